"""Images with label maps: pixel for pixel the classes of the files, ready for training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import snellen
from snellen.cli import main
from snellen.data import Canvas, Photo, Unreadable, render
from snellen.errors import UserError
from snellen.models.checkpoint import read_card
from snellen.models.zoo import NETWORKS
from snellen.train import Recipe, train
from snellen.train.device_dataset import has_label_maps, remember

COLOURS = np.array([[220, 30, 30], [30, 220, 30], [30, 30, 220], [0, 0, 0]], np.uint8)
VOID = 3


def write_pairs(root: Path, count: int = 4, size: tuple[int, int] = (32, 40), seed: int = 0) -> Path:
    """Images of three flat colours by class and black where nothing counts; rows of blocks of 8 pixels."""
    draw = np.random.default_rng(seed)
    for name in ("images/day", "labels/day"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        blocks = draw.integers(0, 3, (size[0] // 8, size[1] // 8)).astype(np.uint8)
        values = np.kron(blocks, np.ones((8, 8), np.uint8))
        values[0] = VOID
        Image.fromarray(COLOURS[values]).save(root / f"images/day/{number}.png")
        Image.fromarray(values).save(root / f"labels/day/{number}.png")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_pairs(tmp_path)


def text(root: Path, query: str = "?ignore=3") -> str:
    return f"pairs:{root}/images,{root}/labels{query}"


def test_every_pixel_has_the_class_of_the_file(root: Path) -> None:
    data = snellen.load_data(text(root))
    assert (data.classes, data.samples.ids[0], has_label_maps(data)) == (("0", "1", "2"), "day/0.png", True)
    for photo, sample in zip(data.read(range(4)), data.samples.ids):
        assert isinstance(photo, Photo)
        values = np.asarray(Image.open(root / "labels" / sample)).astype(int)
        np.testing.assert_array_equal(photo.maps["labels"], np.where(values == VOID, -100, values))
        np.testing.assert_array_equal(photo.image, COLOURS[values])


def test_names_come_from_a_list_and_palettes_are_read_by_place(root: Path) -> None:
    before = snellen.load_data(text(root)).fingerprint
    (root / "labels" / "classes.txt").write_text("red\ngreen\nblue\n")
    values = Image.open(root / "labels/day/0.png")
    values.putpalette(COLOURS[::-1].tobytes())
    values.save(root / "labels/day/0.png")
    data = snellen.load_data(text(root))
    assert data.classes == ("red", "green", "blue")
    assert data.fingerprint != before
    (photo,) = data.read([0])
    assert isinstance(photo, Photo)
    assert set(np.unique(photo.maps["labels"])) <= {-100, 0, 1, 2}
    (root / "other.txt").write_text("a\nb\nc\nd\n")
    assert snellen.load_data(text(root, f"?names={root}/other.txt")).classes == tuple("abcd")


def test_one_folder_may_hold_both_and_folders_may_have_commas(root: Path) -> None:
    for file in (root / "labels" / "day").iterdir():
        file.rename(root / "images" / "day" / f"{file.stem}_L.png")
    (root / "images").rename(root / "both, mine")
    data = snellen.load_data(f"pairs:{root}/both, mine,{root}/both, mine?suffix=_L&ignore=3")
    assert data.samples.ids == tuple(f"day/{number}.png" for number in range(4))
    with pytest.raises(UserError, match=r"holds images and label maps alike; .*\?suffix=_label"):
        snellen.load_data(f"pairs:{root}/both, mine,{root}/both, mine")


def test_what_a_canvas_pads_does_not_count(root: Path) -> None:
    (photo,) = snellen.load_data(text(root)).read([0])
    assert isinstance(photo, Photo)
    shown = render(
        photo, Canvas(80, 80, "pad", interpolation="nearest")
    )  # 32x40 becomes 64x80, 8 rows of black each side
    assert (shown.maps["labels"][:8] == -100).all()
    assert (shown.maps["labels"][72:] == -100).all()
    np.testing.assert_array_equal(shown.maps["labels"][8:72], photo.maps["labels"].repeat(2, 0).repeat(2, 1))
    assert shown.maps["labels"].dtype == np.int16


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda file: Image.new("L", (4, 4)).save(file), "its label map 0.png is 4x4, the image 32x40"),
        (
            lambda file: Image.new("L", (40, 32), 9).save(file),
            r"has the class 9, outside the 3 there are; add \?ignore=9",
        ),
        (lambda file: Image.new("RGB", (40, 32)).save(file), "has 3 channels; expected one of whole numbers"),
        (lambda file: file.write_bytes(b"png"), "cannot be decoded"),
        (lambda file: file.write_bytes(b""), "the file is empty"),
    ],
)
def test_a_wrong_label_map_is_listed_by_name_and_stops_a_training(root: Path, damage: Any, reason: str) -> None:
    (root / "labels" / "classes.txt").write_text("red\ngreen\nblue\n")
    damage(root / "labels/day/0.png")
    data = snellen.load_data(text(root))
    (photo,) = data.read([0])
    assert isinstance(photo, Unreadable)
    with pytest.raises(UserError, match=f"cannot read 'day/0.png': .*{reason}"):
        remember(data, torch.device("cpu"))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?ignore=x", "expected ignore as whole numbers of classes, separated by commas, got 'x'"),
        ("?ignore=0,1,2,3", "no pixel has a class that counts"),
        ("?names=none.txt", "no list of classes 'none.txt'"),
        ("?ignore=3&without=1", "without= changes the labels of images, but .* has labels of pixels"),
        ("?ignore=3&colour=red", "has no column 'colour' to filter by"),
        ("?suffix=/x", "expected suffix as the end of a file's name, such as _label, got '/x'"),
        ("?suffix=../x", "expected suffix as the end of a file's name"),
        ("?suffix=_L", r"image 'day/0.png' has no label map in .*/labels; add it"),
    ],
)
def test_wrong_options_are_one_line(root: Path, query: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        snellen.load_data(text(root, query))


def test_wrong_folders_are_one_line(root: Path) -> None:
    with pytest.raises(UserError, match="expected pairs:IMAGES,LABELS, two folders, got 'pairs:one'"):
        snellen.load_data("pairs:one")
    with pytest.raises(UserError, match="no folder 'nowhere'"):
        snellen.load_data(f"pairs:{root}/images,nowhere")
    Image.new("RGB", (40, 32)).save(root / "images/day/0.jpg")
    with pytest.raises(UserError, match="images 'day/0.jpg' and 'day/0.png' have one label map"):
        snellen.load_data(text(root))


class PerPixel(torch.nn.Module):
    """Linear in the pixel's own colour."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, classes, 1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.conv(images)


def test_a_network_learns_pixels_from_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The colour tells the class; the void, black everywhere, does not count."""
    monkeypatch.setitem(NETWORKS, "perpixel", PerPixel)
    write_pairs(root / "test", 2, seed=1)
    recipe = Recipe(arch="perpixel", epochs=20, batch_size=2, padding=0, lr=0.5)
    (path,) = train(recipe, text(root), root / "out", test=text(root / "test"), device="cpu")
    assert read_card(path)["accuracy"] == 1.0
    assert read_card(path)["classes"] == ["0", "1", "2"]


@pytest.mark.slow
def test_the_command_trains_a_published_network_on_files(root: Path) -> None:
    write_pairs(root / "test", 2, seed=1)
    with pytest.raises(SystemExit) as caught:
        main(["train", "fc_densenet56", "--data", text(root), "--test", text(root / "test"), "--out", str(root / "out"),
              "--epochs", "6", "--set", "batch_size=2", "--set", "padding=0", "--set", "lr=0.01", "--set", "optimiser=adam",
              "--device", "cpu", "--quiet"])  # fmt: skip
    assert not caught.value.code
    (path,) = (root / "out").glob("*.safetensors")
    assert read_card(path)["accuracy"] > 0.6  # a third by chance


def test_camvid_has_its_eleven_classes(shared: Path) -> None:
    folder = shared / "camvid" / "test"
    data = snellen.load_data(f"pairs:{folder},{folder}?suffix=_label&ignore=11")
    assert (len(data), len(data.classes)) == (55, 11)
    memory = remember(data, torch.device("cpu"))
    assert memory.images.shape == (55, 3, 180, 240)
    values = np.stack([np.asarray(Image.open(folder / f"{Path(i).stem}_label.png")) for i in data.samples.ids])
    np.testing.assert_array_equal(memory.labels.numpy(), np.where(values == 11, -100, values.astype(int)))
