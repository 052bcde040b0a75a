"""Canvases against timm's and torchvision's own transforms, pixel by pixel."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from snellen.data.canvas import Canvas, render
from snellen.data.dataset import Photo
from snellen.data.decode import decode_bytes

MODES = {  # that Pillow writes in a format
    "JPEG": ("RGB", "L", "CMYK"),
    "PNG": ("RGB", "L", "P", "RGBA"),
    "WEBP": ("RGB", "RGBA"),
    "TIFF": ("RGB", "L", "P", "RGBA", "CMYK"),
    "GIF": ("RGB", "L", "P"),
    "BMP": ("RGB", "L", "P"),
}


@pytest.fixture(params=[(60, 90), (90, 60), (64, 64), (33, 47)])
def picture(request: pytest.FixtureRequest) -> np.ndarray:
    random = np.random.default_rng(1)
    coarse = random.integers(0, 256, (12, 12, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(coarse).resize(request.param[::-1], Image.Resampling.BICUBIC))


def photo(image: np.ndarray) -> Photo:
    mask = np.zeros(image.shape[:2], bool)
    mask[10:20, 15:30] = True
    return Photo(image, "", np.array([[15.0, 10.0, 30.0, 20.0]]), {"mask": mask})


@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("crop_pct", "mode"), [(0.875, "center"), (1.0, "center"), (0.9, "squash"), (0.95, "center")])
def test_crop_and_squash_equal_timms_transform(
    picture: np.ndarray, interpolation: str, crop_pct: float, mode: str
) -> None:
    from timm.data import create_transform

    from snellen.models.adapters.timm import canvas_of

    config = {"input_size": (3, 32, 32), "crop_pct": crop_pct, "crop_mode": mode, "interpolation": interpolation}
    theirs = create_transform(**config, mean=(0,) * 3, std=(1,) * 3)
    expected = (theirs(Image.fromarray(picture)) * 255).round().numpy().astype(np.uint8)
    assert np.array_equal(render(photo(picture), canvas_of(config)).image, expected)


def test_crop_equals_torchvisions_preset(picture: np.ndarray) -> None:
    from torchvision.transforms._presets import ImageClassification

    theirs = ImageClassification(crop_size=32, resize_size=40, mean=(0, 0, 0), std=(1, 1, 1))
    expected = (theirs(Image.fromarray(picture)) * 255).round().numpy().astype(np.uint8)
    assert np.array_equal(render(photo(picture), Canvas(32, 32, "crop", 40, "bilinear")).image, expected)


@pytest.mark.parametrize(("format", "mode"), [(format, mode) for format, modes in MODES.items() for mode in modes])
@pytest.mark.parametrize(
    "canvas", [Canvas(32, 32, "crop", 40), Canvas(32, 48, "squash"), Canvas(32, 32, "pad")], ids=str
)
def test_a_decoded_file_is_scaled_without_becoming_an_array(format: str, mode: str, canvas: Canvas) -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (60, 90, 3), dtype=np.uint8)
    content = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(content, format)
    decoded = decode_bytes(content.getvalue())
    assert isinstance(decoded, Photo)
    shown = render(decoded, canvas).image
    assert "image" not in vars(decoded)
    assert decoded.size == (60, 90)
    assert decoded.image.shape == (60, 90, 3)
    assert np.array_equal(shown, render(Photo(decoded.image, ""), canvas).image)


def test_masks_and_boxes_move_along(picture: np.ndarray) -> None:
    height, width = picture.shape[:2]
    shown = render(photo(picture), Canvas(32, 32, "squash", 32))
    assert shown.boxes is not None
    expected = np.array([[15 * 32 / width, 10 * 32 / height, 30 * 32 / width, 20 * 32 / height]])
    np.testing.assert_allclose(shown.boxes, expected)
    rows, columns = np.nonzero(shown.maps["mask"])
    assert abs(rows.min() - expected[0, 1]) <= 1
    assert abs(columns.max() + 1 - expected[0, 2]) <= 1


def test_a_map_covers_the_photo_and_nothing_of_what_is_padded() -> None:
    for height, width, canvas in (
        (8, 8, Canvas(8, 12, "pad")),
        (8, 8, Canvas(13, 8, "pad")),
        (10, 20, Canvas(16, 16, "pad")),
    ):
        photo = Photo(np.full((height, width, 3), 200, np.uint8), "", maps={"mask": np.ones((height, width), bool)})
        shown = render(photo, canvas)
        assert (shown.maps["mask"] == (shown.image[0] > 100)).all()


def test_padding_keeps_the_whole_photo_on_black() -> None:
    shown = render(Photo(np.full((10, 20, 3), 200, np.uint8), ""), Canvas(16, 16, "pad"))
    assert (shown.image[:, 4:12] == 200).all()
    assert (shown.image[:, :4] == 0).all()
    assert (shown.image[:, 12:] == 0).all()


def test_a_native_canvas_refuses_other_sizes() -> None:
    with pytest.raises(ValueError, match="expected a photo of 8x8 pixels, got 9x8"):
        render(Photo(np.zeros((9, 8, 3), np.uint8), ""), Canvas(8, 8, "native"))


def test_a_finer_mask_of_a_photo_that_fits_as_it_is_moves_too() -> None:
    """GrabCut works on enlarged photos: a mask of four times the size marks the same corner of an 8 × 8 canvas."""
    mask = np.zeros((32, 32), bool)
    mask[:8, :16] = True
    photo = Photo(np.zeros((8, 8, 3), np.uint8), "", maps={"mask": mask})
    shown = render(photo, Canvas(8, 8, "crop", 8)).maps["mask"]
    assert shown.shape == (8, 8)
    assert shown[:2, :4].all()
    assert shown.sum() == 8
