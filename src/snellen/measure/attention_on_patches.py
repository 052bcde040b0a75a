"""Attention mass: how much of what tokens attend to lies on parts of the image (Kassaw et al. 2024, figures 7 and 16)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.masks import mask_batch, mask_values


def patch_shares(masks: ArrayLike, grid: tuple[int, int]) -> NDArray[np.float64]:
    """How much of each patch a mask covers, float64 [B, h, w] in 0…1, of masks [B, H, W] on a `grid` of h × w patches.

    Patches are equal parts of the image; a pixel on the border of two counts for each by the part of it that is inside.

    >>> import numpy as np
    >>> from snellen.measure import patch_shares
    >>> mask = np.zeros((1, 4, 4), bool)
    >>> mask[0, :2, :1] = True
    >>> patch_shares(mask, (2, 2)).tolist()
    [[[0.5, 0.0], [0.0, 0.0]]]
    """
    batch = mask_batch(masks)
    if batch.ndim != 3:
        raise ValueError(f"expected masks [B, H, W], got {list(batch.shape)}")
    covered = mask_values(batch).astype(np.float64)
    down, across = (_overlaps(pixels, patches) for pixels, patches in zip(covered.shape[1:], grid))
    return np.asarray(down @ covered @ across.T)


def attention_mass(attention: ArrayLike, shares: ArrayLike) -> NDArray[np.float64]:
    """The share of attention on a region, float64 [B] in 0…1; nan where nothing is attended to.

    `attention` [B, h, w] is what each patch receives, not negative; `shares` [B, h, w] how much of each patch the region covers
    (`patch_shares`). What a patch receives is spread evenly over its pixels, since attention does not see inside it: even
    attention has the region's share of the image.

    >>> from snellen.measure import attention_mass
    >>> attention_mass([[[0.75, 0.25]]], [[[1.0, 0.0]]]).tolist()  # two patches, the first on the region
    [0.75]
    """
    received, region = np.asarray(attention, np.float64), np.asarray(shares, np.float64)
    if received.ndim != 3 or received.shape != region.shape:
        raise ValueError(
            f"expected attention and shares [B, h, w], got {list(received.shape)} and {list(region.shape)}"
        )
    if (received < 0).any():
        raise ValueError(f"expected attention that is not negative, got {received.min():g}")
    whole = received.sum((1, 2))
    mass = (received * region).sum((1, 2))
    return np.clip(np.divide(mass, whole, out=np.full(len(received), np.nan), where=whole > 0), 0, 1)


def _overlaps(pixels: int, patches: int) -> NDArray[np.float64]:
    """float64 [patches, pixels]: the part of each patch, along one side, that each pixel is."""
    edges = np.arange(patches + 1) * (pixels / patches)
    start, stop = edges[:-1, None], edges[1:, None]
    place = np.arange(pixels)
    inside = np.minimum(stop, place + 1) - np.maximum(start, place)
    return np.asarray(np.clip(inside, 0, None) * (patches / pixels))
