"""Levels of occlusion and types of occluders, with the published bins and pools (Kassaw et al. 2024, section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bins = Sequence[tuple[float, float]]
"""Shares from … to of the object that is hidden, in order; where both are the same, exactly this share."""

GATE_BINS: Bins = ((0, 0), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9))
LATTICE_BINS: Bins = ((0, 0), (0.25, 0.25), (0.5, 0.5), (0.75, 0.75))
POOLS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("solid", "box", "boxes"), "solid"),
        **dict.fromkeys(
            ("vertical", "horizontal", "cross", "cross-hatch", "cross_hatch", "vgates", "hgates", "xgates"),
            "right-angle",
        ),
        **dict.fromkeys(("oblique", "rotgates"), "oblique"),
    }
)
_EXACT = 1e-6


def occlusion_level(share: ArrayLike, bins: Bins = GATE_BINS) -> NDArray[np.int64]:
    """The place of each hidden share [samples] among the bins, −1 where it is in none (5%, or nan).

    A bin holds its lower end, and its upper end unless the next bin begins there: 30% is of 30–50%, 90% of 70–90%. A bin of
    exactly one share comes before any other that ends or begins there.

    >>> from snellen.measure import occlusion_level
    >>> occlusion_level([0, 0.05, 0.2, 0.3, 0.9]).tolist()
    [0, -1, 1, 2, 4]
    """
    _check_bins(bins)
    shares = np.asarray(share, np.float64)
    outside = shares[(shares < 0) | (shares > 1)]
    if outside.size:
        raise ValueError(f"expected shares from 0 to 1, got {outside.flat[0]:g}")
    levels = np.full(shares.shape, -1, np.int64)
    # Single shares last: they overwrite.
    in_order = sorted(enumerate(bins), key=lambda numbered: numbered[1][0] == numbered[1][1])
    for place, (start, stop) in in_order:
        # A bin that begins where an earlier one ends takes the end from it.
        levels[(shares >= start - _EXACT) & (shares <= stop + _EXACT)] = place
    return levels


def bin_middles(bins: Bins) -> tuple[float, ...]:
    """The middle of each bin.

    >>> from snellen.measure import bin_middles
    >>> bin_middles([(0, 0), (0.25, 0.75)])
    (0.0, 0.5)
    """
    return tuple((start + stop) / 2 for start, stop in bins)


def bin_names(bins: Bins) -> tuple[str, ...]:
    """The bins as one reads them: 0%, 10–30%.

    >>> from snellen.measure import bin_names
    >>> bin_names([(0, 0), (0.1, 0.3)])
    ('0%', '10–30%')
    """
    return tuple(f"{100 * start:g}%" if start == stop else f"{100 * start:g}–{100 * stop:g}%" for start, stop in bins)


def pool_kinds(kind: ArrayLike, pools: Mapping[str, str] = POOLS) -> NDArray[np.object_]:
    """Fine types as the pools they belong to (solid, right-angle, oblique); others stay what they are.

    >>> from snellen.measure import pool_kinds
    >>> pool_kinds(["box", "vertical", "oblique", "real"]).tolist()
    ['solid', 'right-angle', 'oblique', 'real']
    """
    return np.array([pools.get(name, name) for name in np.asarray(kind).tolist()], dtype=object)


def _check_bins(bins: Bins) -> None:
    for start, stop in bins:
        if not 0 <= start <= stop <= 1:
            raise ValueError(f"expected bins from 0 to 1 with start ≤ stop, got ({start:g}, {stop:g})")
    for first, second in pairwise(bins):
        if first[1] > second[0] or first == second:
            raise ValueError(f"expected bins in order that do not overlap, got {first} before {second}")
