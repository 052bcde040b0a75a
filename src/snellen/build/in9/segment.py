"""The object's mask: OpenCV's GrabCut inside the box, a seed for each image and try."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image

from snellen.build.in9.grouping import rank
from snellen.build.in9.request import In9Request
from snellen.data.canvas import check_scaled
from snellen.extras import import_package


@dataclass(frozen=True)
class GrabCutMask:
    """A mask bool [H, W] of the photo, the share of the box that it fills, and the seed and tries it took.

    The mask is None where no try found enough; `why` says what the last one did.
    """

    mask: np.ndarray | None
    share: float
    seed: int
    tries: int
    why: str = ""


def grabcut_seed(seed: int, sample: str, attempt: int = 0) -> int:
    """The seed of OpenCV's generator for one try at an image, 0 … 2^31 − 1."""
    return int(rank(seed, f"grabcut {attempt}", sample), 16) & 0x7FFFFFFF


def grabcut(image: np.ndarray, box: tuple[int, int, int, int], seed: int, iterations: int = 5) -> np.ndarray:
    """bool [H, W]: the foreground that GrabCut finds in uint8 RGB [H, W, 3] inside the box x0, y0, x1, y1 (exclusive).

    Raises cv2.error where it cannot work, such as on a box that fills the image.
    """
    cv2 = import_package("cv2", "GrabCut")
    x0, y0, x1, y1 = box
    cv2.setRNGSeed(seed)
    mask = np.zeros(image.shape[:2], np.uint8)
    background, foreground = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(image, mask, (x0, y0, x1 - x0, y1 - y0), background, foreground, iterations, cv2.GC_INIT_WITH_RECT)
    return (mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)


def grabcut_again(image: np.ndarray, start: np.ndarray, seed: int, iterations: int = 5) -> np.ndarray:
    """bool [H, W]: the foreground that GrabCut finds in uint8 RGB [H, W, 3] from `start`, uint8 [H, W] of OpenCV's GC_ values:
    what is certainly background or object stays so.

    Raises cv2.error where it cannot work, such as where nothing may be the object.
    """
    cv2 = import_package("cv2", "GrabCut")
    cv2.setRNGSeed(seed)
    mask, background, foreground = start.copy(), np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(image, mask, None, background, foreground, iterations, cv2.GC_INIT_WITH_MASK)
    return (mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)


def segment_strokes(
    image: np.ndarray, mask: np.ndarray, strokes: np.ndarray, box: tuple[int, ...], request: In9Request
) -> np.ndarray:
    """bool [H, W]: the mask of the object after people painted on the image uint8 [H, W, 3].

    `strokes` int8 [H, W] is 1 where they painted the object, −1 where they painted background, which stays so; outside the box
    (x0, y0, x1, y1) all else is background, and inside it GrabCut begins with the earlier `mask` and decides.
    """
    cv2 = import_package("cv2", "GrabCut")
    small, factors = _scale(image, request.segment_size)
    rows = np.minimum(((np.arange(small.shape[0]) + 0.5) / factors[1]).astype(int), image.shape[0] - 1)
    columns = np.minimum(((np.arange(small.shape[1]) + 0.5) / factors[0]).astype(int), image.shape[1] - 1)
    inside = np.zeros(mask.shape, bool)
    inside[box[1] : box[3], box[0] : box[2]] = True
    start = np.where(inside, np.where(mask, cv2.GC_PR_FGD, cv2.GC_PR_BGD), cv2.GC_BGD)
    start = np.where(strokes > 0, cv2.GC_FGD, np.where(strokes < 0, cv2.GC_BGD, start)).astype(np.uint8)
    seed = grabcut_seed(request.seed, "strokes")
    found_mask = grabcut_again(small, start[np.ix_(rows, columns)], seed, request.iterations)
    return (resize_mask(found_mask, *mask.shape) | (strokes > 0)) & (strokes >= 0)


def segment_object(image: np.ndarray, box: np.ndarray, sample: str, request: In9Request) -> GrabCutMask:
    """The mask of the object in a box (float x0, y0, x1, y1, inside the image), by as many tries as are allowed."""
    cv2 = import_package("cv2", "GrabCut")
    small, factors = _scale(image, request.segment_size)
    height, width = small.shape[:2]
    low, high = np.floor(box[:2] * factors + 1e-6), np.ceil(box[2:] * factors - 1e-6)
    x0, y0 = (int(v) for v in np.clip(low, 0, [width - 1, height - 1]))
    x1, y1 = (int(v) for v in np.clip(high, [x0 + 1, y0 + 1], [width, height]))
    why, share, used_seed = "", 0.0, 0
    for attempt in range(request.tries):
        used_seed = grabcut_seed(request.seed, sample, attempt)
        try:
            mask = grabcut(small, (x0, y0, x1, y1), used_seed, request.iterations)
        except cv2.error as error:
            why = f"OpenCV: {str(error.err or error).splitlines()[0]}"
            continue
        share = float(mask.sum() / ((x1 - x0) * (y1 - y0)))
        if share >= request.smallest:
            return GrabCutMask(resize_mask(mask, image.shape[0], image.shape[1]), share, used_seed, attempt + 1)
        why = f"{share:.1%} of the box found"
    return GrabCutMask(None, share, used_seed, request.tries, why)


def resize_mask(mask: np.ndarray, height: int, width: int) -> np.ndarray:
    """A mask bool at another size: the pixels that are at least half inside."""
    if mask.shape == (height, width):
        return mask
    soft = Image.fromarray(mask.astype(np.float32)).resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(soft) >= 0.5


def _scale(image: np.ndarray, shorter: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The image with its shorter side scaled, bicubically, and how much wider and higher it is."""
    height, width = image.shape[:2]
    if shorter is None or shorter == min(height, width):
        return np.ascontiguousarray(image), np.ones(2)
    ratio = shorter / min(height, width)
    wide, high = max(1, round(width * ratio)), max(1, round(height * ratio))
    check_scaled((height, width), (high, wide))
    pixels = np.asarray(Image.fromarray(image).resize((wide, high), Image.Resampling.BICUBIC))
    return np.ascontiguousarray(pixels), np.array([wide / width, high / height])
