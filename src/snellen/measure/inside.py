"""How much of a map lies inside a mask."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def inside_mask(maps: ArrayLike, masks: ArrayLike) -> NDArray[np.float64]:
    """The share of each map's energy that lies inside its mask, float64 [B] in 0…1; nan where a map is 0 everywhere.

    `maps` [B, H, W] are not negative, `masks` [B, H, W] are true inside. An even map gives the mask's share of the image,
    which is what a share is to be compared with (Xiao et al. 2021, figure 6: networks trained on Mixed-Rand look at the
    foreground more).
    """
    heat, inside = np.asarray(maps, np.float64), np.asarray(masks).astype(bool)
    if heat.ndim != 3 or heat.shape != inside.shape:
        raise ValueError(f"expected maps and masks [B, H, W] alike, got {list(heat.shape)} and {list(inside.shape)}")
    if (heat < 0).any():
        raise ValueError(f"expected maps that are not negative, got {heat.min():g}")
    whole = heat.sum((1, 2))
    within = np.where(inside, heat, 0).sum((1, 2))
    return np.divide(within, whole, out=np.full(len(heat), np.nan), where=whole > 0)
