"""Structural similarity against OpenCV and SciPy, agreement of edges against SciPy, both on cases worked by hand."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
import torch
from scipy import ndimage

from snellen.distort import apply
from snellen.search.likeness import edge_agreement, ssim


def photos(count: int = 6, height: int = 24, width: int = 31) -> torch.Tensor:
    """Smooth pictures with some noise."""
    random = np.random.default_rng(0)
    coarse = random.integers(0, 256, (count, 6, 6, 3)).astype(np.uint8)
    large = np.stack([cv2.resize(one, (width, height), interpolation=cv2.INTER_CUBIC) for one in coarse])
    grain = random.normal(0, 8, large.shape)
    return torch.from_numpy(np.clip(large + grain, 0, 255).astype(np.uint8)).permute(0, 3, 1, 2).contiguous()


def grey(images: torch.Tensor) -> np.ndarray:
    """The luminance (ITU-R BT.601) of images [n, 3, H, W], float64 [n, H, W]."""
    return np.tensordot(images.double().numpy(), [0.299, 0.587, 0.114], (1, 0))


EDITS = ["brightness(0.6)", "noise(0.1)", "blur(2)", "rotate(20)", "invert()", "contrast(0.3)", "jpeg(10)", "none()"]


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize(("height", "width"), [(24, 31), (64, 48)])
def test_ssim_is_that_of_opencv(edit: str, height: int, width: int) -> None:
    before = photos(6, height, width)
    after = apply(edit, before)
    pairs = zip(*(grey(images).astype(np.float32) for images in (before, after)))
    expected = [cv2.quality.QualitySSIM_compute(first, second)[0][0] for first, second in pairs]
    assert ssim(before, after).numpy() == pytest.approx(np.array(expected), abs=1e-4)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize(("height", "width"), [(24, 31), (4, 3)])
def test_ssim_is_that_of_a_formula_in_scipy(edit: str, height: int, width: int) -> None:
    before = photos(4, height, width)
    after = apply(edit, before)
    x, y = grey(before), grey(after)

    def mean(values: np.ndarray) -> np.ndarray:
        return ndimage.gaussian_filter(values, (0, 1.5, 1.5), mode="mirror", radius=(0, 5, 5))

    c1, c2 = 6.5025, 58.5225
    cov, var_x, var_y = mean(x * y) - mean(x) * mean(y), mean(x * x) - mean(x) ** 2, mean(y * y) - mean(y) ** 2
    light = (2 * mean(x) * mean(y) + c1) / (mean(x) ** 2 + mean(y) ** 2 + c1)
    expected = (light * (2 * cov + c2) / (var_x + var_y + c2)).mean((1, 2))
    assert ssim(before, after).numpy() == pytest.approx(expected, abs=1e-4)


def test_ssim_of_flat_images_by_hand() -> None:
    """Flat images have no variance: (2 · 100 · 50 + c1) / (100² + 50² + c1) is left."""
    before = torch.full((1, 3, 16, 16), 100, dtype=torch.uint8)
    after = torch.full((1, 3, 16, 16), 50, dtype=torch.uint8)
    assert float(ssim(before, after)) == pytest.approx((10_000 + 6.5025) / (12_500 + 6.5025), abs=1e-4)
    assert float(ssim(before, before)) == 1


def test_ssim_does_not_see_colours_of_one_luminance_and_sees_noise_of_channels_less() -> None:
    """Wang et al. (2004) compare luminance: a mean over channels is lower where these change apart from each other."""
    red, blue = torch.tensor([80, 0, 0]), torch.tensor([0, 0, round(80 * 0.299 / 0.114)])
    first, second = (colour.to(torch.uint8)[None, :, None, None].expand(1, 3, 16, 16) for colour in (red, blue))
    assert float(ssim(first, second)) > 0.999
    before = photos()[:, :1].repeat(1, 3, 1, 1)
    noise = torch.from_numpy(np.random.default_rng(3).normal(0, 30, before.shape))
    after = (before + noise).clamp(0, 255).to(torch.uint8)
    channels = [ssim(*(images[:, [channel] * 3] for images in (before, after))) for channel in range(3)]
    assert bool((ssim(before, after) > torch.stack(channels).mean(0) + 0.05).all())


def test_equal_images_are_wholly_alike_and_one_pixel_is_an_image() -> None:
    for images in (photos(), photos(2, 1, 1), photos(2, 1, 9)):
        assert ssim(images, images).tolist() == [1] * len(images)
        assert edge_agreement(images, images).tolist() == pytest.approx([1] * len(images))


@pytest.mark.parametrize("edit", EDITS)
def test_edge_agreement_is_the_correlation_of_scipys_sobel_edges(edit: str) -> None:
    before = photos()
    after = apply(edit, before)

    def edges(image: np.ndarray) -> np.ndarray:
        grey = np.tensordot([0.299, 0.587, 0.114], image.astype(float), 1)
        return np.hypot(*(ndimage.sobel(grey, axis, mode="nearest") for axis in (0, 1))).ravel()

    expected = [np.corrcoef(edges(a), edges(b))[0, 1] for a, b in zip(before.numpy(), after.numpy())]
    assert edge_agreement(before, after).numpy() == pytest.approx(np.array(expected), abs=1e-5)


def test_edges_stay_where_only_light_changes_and_go_where_the_picture_goes() -> None:
    before = photos()
    inverted, scrambled, grey = (apply(edit, before) for edit in ("invert()", "shuffle(4)", "brightness(0)"))
    assert edge_agreement(before, inverted).numpy() == pytest.approx(np.ones(6), abs=1e-6)
    assert float(edge_agreement(before, scrambled).max()) < 0.6
    assert edge_agreement(before, grey).tolist() == [0] * 6
    assert edge_agreement(grey, grey).tolist() == [1] * 6
