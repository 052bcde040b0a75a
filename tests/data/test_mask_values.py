"""Which values of a mask are the object, and what is said where images count nowhere for want of one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.data import load_data
from snellen.data.dataset import Photo
from snellen.errors import UserError
from snellen.exam.run import Run
from snellen.models import from_callable, from_torch

from ..audits.test_inside_mask import Colour

SQUARE = np.zeros((32, 32), bool)
SQUARE[10:20, 10:20] = True
BORDER = np.zeros((32, 32), bool)
BORDER[9:21, 9:21] = True
BORDER &= ~SQUARE


def masked(folder: Path, inside: int, outside: int, border: int, blank: int = 0, suffix: str = "png") -> str:
    """24 images with a red or blue square and masks of these values; those of the first `blank` are all `outside`."""
    lines = ["path,label,mask"]
    for number in range(24):
        image = np.random.default_rng(number).integers(90, 110, (32, 32, 3)).astype(np.uint8)
        image[SQUARE] = (200, 0, 0) if number % 2 else (0, 0, 200)
        mask = np.full((32, 32), outside, np.uint8)
        if number >= blank:
            mask[BORDER], mask[SQUARE] = border, inside
        Image.fromarray(image).save(folder / f"{number:02d}.png")
        Image.fromarray(mask).save(folder / f"mask-{number:02d}.{suffix}")
        lines.append(f"{number:02d}.png,{'red' if number % 2 else 'blue'},mask-{number:02d}.{suffix}")
    (folder / "images.csv").write_text("\n".join(lines) + "\n")
    return f"manifest:{folder}/images.csv"


def first_mask(data: str) -> np.ndarray:
    (photo,) = load_data(data).read([0])
    assert isinstance(photo, Photo), photo
    return photo.maps["mask"]


def audited(data: str, out: Path) -> Run:
    sees = from_callable(
        lambda images: np.eye(2)[(images[:, 16, 16, 0] > 150).astype(int)],
        size=32, name="sees", version="1", classes=["blue", "red"],
    )  # fmt: skip
    return snellen.audit(sees, data, "background", out)


@pytest.mark.parametrize(
    ("inside", "outside", "border", "options"),
    [(255, 0, 0, ""), (1, 0, 0, ""), (1, 2, 3, ""), (200, 3, 100, ""), (5, 2, 3, "?mask=5"), (1, 0, 2, "?mask=1"),
     (1, 0, 255, ""), (15, 0, 255, ""), (255, 0, 200, "?mask=255")],
)  # fmt: skip
def test_the_object_is_found(tmp_path: Path, inside: int, outside: int, border: int, options: str) -> None:
    np.testing.assert_array_equal(first_mask(masked(tmp_path, inside, outside, border) + options), SQUARE)


def test_several_values_may_be_the_object(tmp_path: Path) -> None:
    data = masked(tmp_path, 1, 2, 3)
    np.testing.assert_array_equal(first_mask(data + "?mask=1,3"), SQUARE | BORDER)
    assert load_data(data).fingerprint != load_data(data + "?mask=1,3").fingerprint
    with pytest.raises(UserError, match=r"expected \?mask= as the whole numbers that are the object.*got 'object'"):
        load_data(data + "?mask=object")


def test_other_values_are_asked_about(tmp_path: Path) -> None:
    data = masked(tmp_path, 5, 2, 3)
    with pytest.raises(UserError, match=r"has the values 2, 3, 5; expected .*as in \?mask=1"):
        audited(data, tmp_path / "run")


PALETTE = [0, 0, 0, 128, 0, 0, 0, 128, 0, 128, 128, 0, *[0] * 753]  # as of Pascal VOC: black, dark red, green, olive, …
PALETTE[3 * 255 :] = [224, 224, 192]  # the border


def with_palette(folder: Path, *labels: int) -> str:
    """The first image of a manifest with a mask in VOC's colours: a border around the square, which is one label, or halves of
    two."""
    data = masked(folder, 1, 0, 0)
    numbers = np.where(BORDER, 255, np.where(SQUARE, labels[0], 0)).astype(np.uint8)
    numbers[15:20, 10:20] = labels[-1]
    image = Image.fromarray(numbers, "P")
    image.putpalette(PALETTE)
    image.save(folder / "mask-00.png")
    return data


@pytest.mark.parametrize("label", [1, 2, 3])
def test_the_border_of_pascal_voc_is_background(tmp_path: Path, label: int) -> None:
    np.testing.assert_array_equal(first_mask(with_palette(tmp_path, label)), SQUARE)


def test_several_labels_of_pascal_voc_are_asked_about(tmp_path: Path) -> None:
    data = with_palette(tmp_path, 1, 2)
    with pytest.raises(UserError, match=r"its mask mask-00.png: it has the values 0, 1, 2, 255; .*as in \?mask=1"):
        raise_of(data)
    upper = SQUARE.copy()
    upper[15:] = False
    np.testing.assert_array_equal(first_mask(data + "?mask=1"), upper)


def raise_of(data: str) -> None:
    (photo,) = load_data(data).read([0])
    raise UserError(getattr(photo, "reason", "it was read"))


def test_labels_of_a_palette_without_a_border_are_asked_about(tmp_path: Path) -> None:
    """By their colours the brighter of two labels would be the object, and the other none."""
    data = masked(tmp_path, 1, 0, 0)
    image = Image.fromarray(np.where(SQUARE, 1, np.where(BORDER, 4, 0)).astype(np.uint8), "P")
    image.putpalette([0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 100])
    image.save(tmp_path / "mask-00.png")
    with pytest.raises(UserError, match="it has the values 0, 1, 4; "):
        raise_of(data)


def test_a_soft_edge_is_no_border(tmp_path: Path) -> None:
    np.testing.assert_array_equal(first_mask(masked(tmp_path, 255, 0, 140)), SQUARE | BORDER)
    np.testing.assert_array_equal(first_mask(masked(tmp_path, 250, 0, 100)), SQUARE)


def arrays(folder: Path, masks: np.ndarray) -> str:
    np.savez(folder / "set.npz", images=np.zeros((len(masks), 32, 32, 3), np.uint8), labels=[0, 1], masks=masks)
    return f"arrays:{folder}/set.npz"


def test_the_border_in_arrays_is_background_and_values_may_be_named(tmp_path: Path) -> None:
    labels = np.where(BORDER, 255, np.where(SQUARE, 15, 0)).astype(np.uint8)
    data = arrays(tmp_path, np.stack([labels, np.where(SQUARE, 255, 0).astype(np.uint8)]))
    for photo in load_data(data).read([0, 1]):
        assert isinstance(photo, Photo)
        np.testing.assert_array_equal(photo.maps["mask"], SQUARE)
    np.testing.assert_array_equal(first_mask(data + "?mask=255"), BORDER)
    prints = {load_data(data + options).fingerprint for options in ("", "?mask=255", "?mask=15", "?mask=15,255")}
    assert len(prints) == 4


def test_the_values_of_masks_beside_variants_may_be_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        for folder in ("original/val/00_dog", "fg_mask/val/00_dog"):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(tmp_path / f"original/val/00_dog/{name}.png")
        np.save(tmp_path / f"fg_mask/val/00_dog/{name}.npy", np.where(SQUARE, 2, np.where(BORDER, 1, 0)))
    data = f"in9:{tmp_path}/original"
    np.testing.assert_array_equal(first_mask(data), SQUARE | BORDER)
    np.testing.assert_array_equal(first_mask(data + "?mask=2"), SQUARE)
    assert load_data(data).fingerprint != load_data(data + "?mask=2").fingerprint


@pytest.mark.parametrize("data", ["folder:{}/images", "manifest:{}/plain.csv", "voc:{}?images=images/dog"])
def test_data_without_mask_files_refuse_values_of_masks(tmp_path: Path, data: str) -> None:
    for folder in ("images/dog", "Annotations"):
        (tmp_path / folder).mkdir(parents=True)
    Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(tmp_path / "images" / "dog" / "1.png")
    (tmp_path / "plain.csv").write_text("path,label\nimages/dog/1.png,dog\n")
    box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax></bndbox>"
    (tmp_path / "Annotations" / "1.xml").write_text(f"<a><object><name>dog</name>{box}</object></a>")
    text = data.format(tmp_path)
    with pytest.raises(UserError, match=r"reads no mask files whose values \?mask= could name; leave it out, or give"):
        load_data(text + ("&" if "?" in text else "?") + "mask=1")


def test_a_dark_jpeg_is_a_mask_without_object(tmp_path: Path) -> None:
    data = masked(tmp_path, 90, 0, 20, suffix="jpg")
    assert not first_mask(data).any()


def test_trimaps_in_arrays_are_recognised(tmp_path: Path) -> None:
    trimap = np.where(SQUARE, 1, np.where(BORDER, 3, 2)).astype(np.uint8)
    masks = np.stack([trimap, SQUARE.astype(np.uint8), np.where(SQUARE, 7, 0)])
    np.savez(tmp_path / "set.npz", images=np.zeros((3, 32, 32, 3), np.uint8), labels=[0, 1, 0], masks=masks)
    for photo in load_data(f"arrays:{tmp_path}/set.npz").read([0, 1, 2]):
        assert isinstance(photo, Photo)
        np.testing.assert_array_equal(photo.maps["mask"], SQUARE)


def test_an_audit_of_trimaps_has_no_blanks(tmp_path: Path) -> None:
    found = audited(masked(tmp_path, 1, 2, 3), tmp_path / "run").findings().set_index("name")
    assert found.loc["only_fg_accuracy", "value"] == 1
    assert found.loc["only_fg_accuracy", "n"] == 24


def test_many_images_without_object_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = audited(masked(tmp_path, 255, 0, 0, blank=6), tmp_path / "run")
    notices = [notice for notice in run.results()["notices"] if "count nowhere under" in notice]
    assert notices[0].startswith("6 of 24 test images (25%) count nowhere under ")
    assert "the masks of 6 have no pixel of an object ('00.png' first)" in notices[0]
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: 6 of 24 test images")]
    assert len(said) == len(notices)
    assert "the masks of 6 have no pixel of an object" in (tmp_path / "run" / "report.md").read_text()


def test_one_image_of_24_without_object_is_no_notice(tmp_path: Path) -> None:
    run = audited(masked(tmp_path, 255, 0, 0, blank=1), tmp_path / "run")
    assert [notice for notice in run.results()["notices"] if "count nowhere" in notice] == []


def mapped(data: str, out: Path, audit: str) -> Run:
    """An audit of maps that are red where the image is."""
    network = from_torch(Colour(1, 0, 0), classes=["blue", "red"], size=32, name="net", device="cpu")
    return snellen.audit(network, data, audit, out, device="cpu")


@pytest.mark.parametrize("audit", ["explanation(boxes=mask, curves=off)", "inside_mask"])
def test_maps_of_images_without_object_are_warned_of_and_count_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], audit: str
) -> None:
    run = mapped(masked(tmp_path, 255, 0, 0, blank=6), tmp_path / "run", audit)
    text = "6 of 24 test images (25%) count in no number about maps and objects: their masks have no pixel of an object"
    assert text in run.results()["notices"]
    assert f"warning: {text}" in capsys.readouterr().err
    assert text in (tmp_path / "run" / "report.md").read_text()
    found = run.findings().set_index("name")
    assert found.loc["energy_pg" if "explanation" in audit else "inside_mask", "n"] == 18
    whole = mapped(masked(tmp_path, 255, 0, 0, blank=0), tmp_path / "whole", audit)
    assert [one for one in whole.results()["notices"] if "count in no number" in one] == []


def test_maps_that_are_empty_everywhere_are_warned_of(tmp_path: Path) -> None:
    data = masked(tmp_path, 255, 0, 0)
    for number in range(4):
        Image.fromarray(np.zeros((32, 32, 3), np.uint8)).save(tmp_path / f"{number:02d}.png")
    run = mapped(data, tmp_path / "run", "explanation(boxes=mask, curves=off)")
    said = [one for one in run.results()["notices"] if "count in no number" in one]
    assert said == [
        "4 of 24 test images (17%) count in no number about the maps of 'net' by gradcam: they are 0 everywhere there"
    ]
