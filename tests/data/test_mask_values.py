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
from snellen.models import from_callable

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
    [(255, 0, 0, ""), (1, 0, 0, ""), (1, 2, 3, ""), (200, 3, 100, ""), (5, 2, 3, "?mask=5"), (1, 0, 2, "?mask=1")],
)
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
