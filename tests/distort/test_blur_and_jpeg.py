"""Blur against SciPy and torchvision, JPEG against Pillow to the bit."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
import torch
from PIL import Image
from scipy import ndimage
from torchvision.transforms.v2 import functional as peer

from snellen.distort import View, jpeg, parse

COUNT = 40


def images(height: int = 24, width: int = 31) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    return torch.randint(0, 256, (COUNT, 3, height, width), dtype=torch.uint8, generator=generator)


def distort(text: str, batch: torch.Tensor) -> torch.Tensor:
    return parse(text)(batch, View.of([str(number) for number in range(len(batch))]))


@pytest.mark.parametrize("sigma", [0.3, 0.5, 1, 2.5, 8, 20])
def test_a_blur_is_scipys_within_one_grey_level(sigma: float) -> None:
    batch = images()
    expected = ndimage.gaussian_filter(batch.numpy().astype(float), (0, 0, sigma, sigma), mode="reflect", truncate=4)
    assert np.abs(distort(f"blur({sigma})", batch).numpy() - expected).max() <= 1


def test_a_blur_is_torchvisions_away_from_the_border_which_that_mirrors_otherwise() -> None:
    batch = images(40, 40)
    expected = peer.gaussian_blur(batch, [9, 9], [1.0, 1.0])
    inner = (slice(None), slice(None), slice(5, -5), slice(5, -5))
    assert (distort("blur(1)", batch)[inner].int() - expected[inner]).abs().max() <= 1


def test_a_drawn_sigma_is_rounded_to_a_32nd_of_a_pixel() -> None:
    batch = images()
    law = parse("blur(uniform(0, 3))")
    draws = View.of([str(number) for number in range(COUNT)]).parameter("sigma", law.sigma)  # type: ignore[attr-defined]
    out = distort("blur(uniform(0, 3))", batch)
    for row in (0, 3, 17):
        alone = distort(f"blur({round(draws[row] * 32) / 32!r})", batch)
        assert torch.equal(out[row], alone[row])


def by_pillow(batch: torch.Tensor, qualities: list[int]) -> np.ndarray:
    outcome = []
    for image, quality in zip(batch.permute(0, 2, 3, 1).contiguous().numpy(), qualities):
        file = io.BytesIO()
        Image.fromarray(image).save(file, "jpeg", quality=quality)
        outcome.append(np.asarray(Image.open(file)))
    return np.stack(outcome)


@pytest.mark.parametrize("quality", [1, 10, 50, 75, 95, 100])
@pytest.mark.parametrize("count", [0, 1, COUNT])
def test_jpeg_equals_pillow_to_the_bit_whatever_the_number_of_threads(quality: int, count: int) -> None:
    batch = images()[:count]
    out = distort(f"jpeg({quality})", batch)
    assert out.shape == batch.shape
    if count:
        assert np.array_equal(out.permute(0, 2, 3, 1).numpy(), by_pillow(batch, [quality] * count))


@pytest.mark.parametrize("size", [(1, 1), (8, 8), (17, 16), (33, 50), (224, 200)])
def test_opencv_makes_pillows_jpegs_or_is_not_taken(size: tuple[int, int]) -> None:
    noise = images(*size)[0].numpy()
    smooth = np.repeat(noise[:, :, :1], size[1], 2)
    for planes in (noise, smooth):
        for quality in range(1, 101, 9):
            assert np.array_equal(jpeg.through_jpeg(planes, quality), jpeg.through_pillow(planes, quality))


def test_an_opencv_of_other_pixels_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    jpeg._codec.cache_clear()
    monkeypatch.setattr(jpeg, "through_opencv", lambda planes, quality: planes)
    assert jpeg._codec() is jpeg.through_pillow
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "cv2", None)  # not installed
    jpeg._codec.cache_clear()
    assert jpeg._codec() is jpeg.through_pillow
    jpeg._codec.cache_clear()


def test_a_drawn_quality_is_rounded() -> None:
    batch = images()
    law = parse("jpeg(uniform(5, 60))")
    draws = View.of([str(number) for number in range(COUNT)]).parameter("quality", law.quality)  # type: ignore[attr-defined]
    out = distort("jpeg(uniform(5, 60))", batch)
    assert np.array_equal(out.permute(0, 2, 3, 1).numpy(), by_pillow(batch, np.rint(draws).astype(int).tolist()))
