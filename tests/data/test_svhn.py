"""Digits in MATLAB files: pixels, digits and columns are where they belong, and a model can be asked about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io

import snellen
from snellen.data import Photo
from snellen.errors import UserError
from snellen.models import from_callable


def digits(count: int) -> tuple[np.ndarray, np.ndarray]:
    """X and y as SVHN has them: image 3 has one green pixel in row 1, column 2."""
    pixels = np.zeros((32, 32, 3, count), np.uint8)
    if count > 3:
        pixels[1, 2, 1, 3] = 255
    return pixels, (np.arange(count) % 10 + 1).astype(np.uint8)[:, None]


@pytest.mark.parametrize("packed", [False, True])
def test_ten_is_zero_and_pixels_are_where_they_belong(tmp_path: Path, packed: bool) -> None:
    pixels, numbers = digits(24)
    scipy.io.savemat(tmp_path / "test_32x32.mat", {"X": pixels, "y": numbers}, do_compression=packed)
    data = snellen.load_data(f"svhn:{tmp_path}/test_32x32.mat")
    assert (len(data), data.size, data.classes) == (24, (32, 32), tuple("0123456789"))
    assert data.samples.labels[:12].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]
    (photo,) = data.read([3])
    assert isinstance(photo, Photo)
    assert np.argwhere(photo.image).tolist() == [[1, 2, 1]]
    assert data.samples.ids[3] == "000003"
    assert len(snellen.load_data(f"svhn:{tmp_path}/test_32x32.mat?label=0")) == 2


@pytest.mark.parametrize("numbers", [np.arange(5)[None].astype(float), np.arange(5)[:, None].astype(np.int16)])
def test_syn_may_have_its_digits_in_any_type_and_either_shape(tmp_path: Path, numbers: np.ndarray) -> None:
    scipy.io.savemat(tmp_path / "synth_test_32x32.mat", {"X": digits(5)[0], "y": numbers})
    assert snellen.load_data(f"svhn:{tmp_path}/synth_test_32x32.mat").samples.labels.tolist() == [0, 1, 2, 3, 4]


def test_one_image_may_have_three_indices(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "a.mat", {"X": digits(1)[0][..., 0], "y": 10})
    assert snellen.load_data(f"svhn:{tmp_path}/a.mat").samples.labels.tolist() == [0]


def test_other_content_has_another_fingerprint(tmp_path: Path) -> None:
    pixels, numbers = digits(5)
    prints = set()
    for change in (0, 1):
        scipy.io.savemat(tmp_path / "a.mat", {"X": pixels + np.uint8(change), "y": numbers})
        prints.add(snellen.load_data(f"svhn:{tmp_path}/a.mat").fingerprint)
    assert len(prints) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"X": digits(5)[0]}, "has no array 'y'"),
        ({"y": digits(5)[1]}, "has no array 'X'"),
        ({"X": digits(5)[0].astype(float), "y": digits(5)[1]}, r"expected X as uint8 .* got float64 \[32, 32, 3, 5\]"),
        ({"X": digits(5)[0].transpose(3, 0, 1, 2), "y": digits(5)[1]}, r"got uint8 \[5, 32, 32, 3\]"),
        ({"X": digits(5)[0], "y": digits(4)[1]}, "one digit in y for each of the 5 images of X, got 4"),
        ({"X": digits(5)[0], "y": np.array([1, 2, 11, 4, 5])}, "y of image 2 is 11; expected 0 to 9, or 10 for 0"),
        ({"X": digits(5)[0], "y": np.array([1, 2, np.nan, 4, 5])}, "y of image 2 is nan"),
    ],
)
def test_what_is_no_set_of_digits_is_named(tmp_path: Path, content: dict[str, np.ndarray], said: str) -> None:
    scipy.io.savemat(tmp_path / "a.mat", content)
    with pytest.raises(UserError, match=said) as caught:
        snellen.load_data(f"svhn:{tmp_path}/a.mat")
    assert "a.mat" in str(caught.value)


def test_a_model_can_be_asked_about_it(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "a.mat", dict(zip("Xy", digits(20))))
    model = from_callable(lambda images: np.eye(10)[[3] * len(images)], size=16, name="threes", version="1")
    run = snellen.audit(model, f"svhn:{tmp_path}/a.mat", (), quiet=True, report=False)
    assert run.predictions().query("distortion == 'none()' and score == 1")["sample"].tolist() == ["000002", "000012"]
