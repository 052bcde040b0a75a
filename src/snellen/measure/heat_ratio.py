"""EHR, the effective heat ratio: how much of the heat above many thresholds lies on the object (Zhang et al. 2021)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.regions import Boxes, checked_maps, region_masks, usable

LEAST = 0.1  # of a map's maximum: pixels below it are no heat
MOST = 0.99  # of a map's maximum: no threshold lies above it, so that some pixels always do
QUANTILES = np.linspace(0, 1, 11)


def effective_heat_ratio(maps: ArrayLike, boxes: Boxes, *, weighted: bool = True) -> NDArray[np.float64]:
    """EHR of each map, float64 [B] in 0…1 (Won et al. 2023, equation 2, as the cited code of Zhang et al. 2021 has it).

    A map is divided by its maximum, and pixels below 0.1 are dropped. Thresholds are eleven quantiles of the rest, from 0 to 1,
    none above 0.99. At each the ratio is the heat inside the boxes of the pixels that reach it, by the number of all
    pixels that reach it; EHR is the area under these ratios (trapezoids). Without `weighted` pixels inside are counted
    instead of their heat. `boxes`, and where it is nan, as for `energy_pointing_game`.

    >>> import numpy as np
    >>> from snellen.measure import effective_heat_ratio
    >>> maps = np.zeros((1, 4, 4))
    >>> maps[0, :2] = 1
    >>> effective_heat_ratio(maps, [[[0, 0, 4, 2]]]).tolist()  # all the heat lies inside
    [1.0]
    """
    heat = checked_maps(maps)
    inside = region_masks(boxes, heat.shape)
    known = usable(heat) & inside.any((1, 2))
    ratios = np.full(len(heat), np.nan)
    for row in np.flatnonzero(known):
        ratios[row] = _heat_ratio(heat[row], inside[row], weighted)
    return ratios


def _heat_ratio(heat: NDArray[Any], inside: NDArray[np.bool_], weighted: bool) -> float:
    levels, counts, within = _levels(heat.reshape(-1), inside.reshape(-1))
    hot = levels >= LEAST
    levels, counts, within = levels[hot], counts[hot], within[hot]
    # As np.quantile does it over the single pixels: between the two of neighbouring rank, in proportion.
    last = counts.cumsum()
    rank = QUANTILES * (last[-1] - 1)
    below, above = (levels[np.searchsorted(last, end(rank), side="right")] for end in (np.floor, np.ceil))
    thresholds = np.minimum(below + (above - below) * (rank - np.floor(rank)), MOST)
    first = np.searchsorted(levels, thresholds)
    numerator = within * levels if weighted else within
    ratios = _tails(numerator)[first] / _tails(counts)[first]
    return min(float(np.trapezoid(ratios, QUANTILES)), 1.0)  # what is rounded may not leave the scale


def _levels(
    heat: NDArray[Any], inside: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """The different values of a map by its maximum, ascending, how often each occurs, and how often inside."""
    if heat.dtype in (np.uint8, np.uint16):  # as maps are stored: counted, which is faster than sorting
        most = int(heat.max()) + 1
        counts, within = (np.bincount(pixels, minlength=most) for pixels in (heat, heat[inside]))
        values = np.flatnonzero(counts)
        counts, within = counts[values], within[values]
    else:
        values, place = np.unique(heat, return_inverse=True)
        counts, within = (np.bincount(pixels, minlength=len(values)) for pixels in (place, place[inside]))
    return values / values[-1], counts, within


def _tails(values: NDArray[Any]) -> NDArray[Any]:
    """The sums of the values from each place on."""
    return values[::-1].cumsum()[::-1]
