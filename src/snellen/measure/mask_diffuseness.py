"""Diffuseness: how finely an occluder is spread over what it hides (Kassaw et al. 2024, section 7 and appendix F)."""

from __future__ import annotations

import itertools
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.masks import as_array, mask_values

MaskBorder = Literal["ignore", "wrap"]


def diffuseness(mask: ArrayLike, connectivity: int = 4, border: MaskBorder = "ignore") -> float:
    """Mean over occluding pixels of the share of their neighbours that do not occlude: 0 solid, 1 single pixels.

    `mask` [H, W] is true where something occludes. `connectivity` is 4 or 8; the paper does not say which, and with 8
    chessboards of 1 and of 2 pixels are equally diffuse. `border`: neighbours beyond the image are left out (`ignore`), or the
    mask goes on at the other side (`wrap`). With 4 and `wrap`, lattices of s pixels have 1/s at 25 and 50% and 1/(3 s) at 75%.
    A mask without an occluding pixel, or whose only pixel has no neighbour, gives nan.

    >>> import numpy as np
    >>> from snellen.measure import diffuseness
    >>> diffuseness(np.ones((4, 4))), diffuseness(np.indices((4, 4)).sum(0) % 2)  # solid, chessboard
    (0.0, 1.0)
    """
    occluder = as_array(mask)
    if occluder.ndim != 2:
        raise ValueError(f"expected a mask [H, W], got an array of shape {list(occluder.shape)}")
    if connectivity not in (4, 8) or border not in ("ignore", "wrap"):
        raise ValueError(f"expected connectivity 4 or 8 and border ignore or wrap, got {connectivity} and '{border}'")
    occluder = mask_values(occluder)
    if not occluder.any():
        return nan
    inside = np.ones(occluder.shape, bool)
    if border == "wrap":
        padded, exists = np.pad(occluder, 1, mode="wrap"), np.pad(inside, 1, mode="wrap")
    else:
        padded, exists = np.pad(occluder, 1), np.pad(inside, 1)
    height, width = occluder.shape
    open_sides, sides = np.zeros(occluder.shape), np.zeros(occluder.shape)
    for down, right in itertools.product((-1, 0, 1), repeat=2):
        if abs(down) + abs(right) == 0 or (connectivity == 4 and abs(down) + abs(right) == 2):
            continue
        window = np.s_[1 + down : 1 + down + height, 1 + right : 1 + right + width]
        open_sides += exists[window] & ~padded[window]
        sides += exists[window]
    counted = occluder & (sides > 0)
    return float(np.mean(open_sides[counted] / sides[counted])) if counted.any() else nan
