"""Fine-grained saliency against OpenCV's, to the bit, and the boxes SaliencyMix puts on its peaks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from snellen.train.mixing import SaliencyMix, fine_grained
from snellen.train.mixing.saliency import peaks, scale_by_scale
from snellen.train.mixing.scales import all_scales

SIZES = [(28, 28), (32, 32), (64, 64), (224, 224), (48, 75), (130, 20), (2, 3), (1, 7)]


def draws(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def theirs(images: np.ndarray) -> np.ndarray:
    """float32 [B, H, W] of OpenCV for RGB images [B, H, W, 3]."""
    cv2 = pytest.importorskip("cv2")
    if not hasattr(cv2, "saliency"):
        pytest.skip("needs opencv-contrib")
    judge = cv2.saliency.StaticSaliencyFineGrained_create()
    return np.stack([judge.computeSaliency(np.ascontiguousarray(image[..., ::-1]))[1] for image in images])


def same_as_opencv(images: np.ndarray) -> bool:
    """Both ways: scale by scale and all at once."""
    shown, expected = torch.from_numpy(images).permute(0, 3, 1, 2), theirs(images)
    ours = [fine_grained(shown), scale_by_scale(shown), all_scales(shown).permute(2, 0, 1)]
    assert all(found.dtype == torch.uint8 for found in ours)
    return all(np.array_equal(found.numpy().astype(np.float32) * np.float32(1 / 255), expected) for found in ours)


def invented(count: int, height: int, width: int) -> np.ndarray:
    """Noise, blots of colour, faint noise, black with one dot, and flat images, `count` of each kind."""
    random = np.random.default_rng(height * 1000 + width)
    noise = random.integers(0, 256, (count, height, width, 3))
    blots = random.integers(0, 256, (count, 6, 6, 3)).repeat(-(-height // 6), 1).repeat(-(-width // 6), 2)
    faint = random.integers(0, 256, (count, 1, 1, 3)) // 2 + random.integers(0, 3, (count, height, width, 3))
    dots = np.zeros_like(noise)
    dots[np.arange(count), random.integers(0, height, count), random.integers(0, width, count)] = 255
    flat = np.broadcast_to(random.integers(0, 256, (count, 1, 1, 3)), noise.shape)
    return np.concatenate([noise, blots[:, :height, :width], faint, dots, flat]).astype(np.uint8)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_maps_equal_opencv_to_the_bit_on_invented_images(height, width):
    assert same_as_opencv(invented(3 if height == 224 else 12, height, width))


@pytest.mark.parametrize(("name", "side"), [("cifar10", 32), ("fashion_mnist", 28)])
def test_maps_equal_opencv_to_the_bit_on_real_small_images(realdata, name, side):
    images = np.asarray(realdata.load_small(name, "test")[0])[:400]
    if images.ndim == 3:
        images = images[..., None].repeat(3, -1)
    assert images.shape[1:] == (side, side, 3)
    assert same_as_opencv(images)


@pytest.mark.parametrize("side", [64, 224])
def test_maps_equal_opencv_to_the_bit_on_photographs(shared, side):
    from PIL import Image

    files = sorted((shared / "imagenet_samples").rglob("*.jp*g"))[:24]
    assert len(files) == 24
    images = np.stack([np.asarray(Image.open(file).convert("RGB").resize((side, side))) for file in files])
    assert same_as_opencv(images)


def test_a_bright_square_is_salient_and_a_flat_image_is_not():
    """The published example: a square at rows 20–25, columns 22–27 has its peak at (22, 24)."""
    images = torch.zeros(2, 3, 32, 32, dtype=torch.uint8)
    images[0, :, 20:26, 22:28] = 255
    maps = fine_grained(images)
    assert int(maps[1].max()) == 0
    assert peaks(images)[:, 0].tolist() == [22, 24]
    assert peaks(images.float())[:, 0].tolist() == [22, 24]


def spotted(places: list[tuple[int, int]]) -> torch.Tensor:
    """Black images, each with one bright square round its place and its number in a corner pixel."""
    images = torch.zeros(len(places), 3, 32, 32, dtype=torch.uint8)
    for image, (row, column) in zip(images, places):
        image[:, row - 2 : row + 3, column - 2 : column + 3] = 255
    return images


def test_the_box_lies_on_the_peak_of_the_first_partner_or_of_each():
    places = [(6, 6), (6, 25), (25, 6), (25, 25), (16, 16), (10, 20)]
    images = spotted(places)
    at = peaks(images)
    for seed in range(12):
        for per in ("batch", "sample"):
            # Label maps tell whose each pixel is.
            maps = torch.arange(6)[:, None, None].expand(6, 32, 32)
            own = SaliencyMix(per=per)(images, maps, draws(seed))[1].own
            partner = SaliencyMix(per=per)(images, torch.arange(6), draws(seed))[1].partner
            for row in range(6):
                inside = own[row] != row
                if int(partner[row]) == row or not inside.any():
                    continue
                peak = at[:, partner[0 if per == "batch" else row]]
                rows, columns = inside.any(1).nonzero()[:, 0], inside.any(0).nonzero()[:, 0]
                assert own[row][peak[0], peak[1]] == partner[row]
                for found, centre in ((rows, int(peak[0])), (columns, int(peak[1]))):
                    cut = found[0] == 0 or found[-1] == 31
                    assert cut or (int(found[0]) + int(found[-1]) + 1) // 2 == centre
