"""Energy: how much of a map lies on the object, and where its peak is (Won et al. 2023, section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import bootstrap_interval, keep
from snellen.measure.estimate import NO_DATA, Estimate, as_runs
from snellen.measure.masks import as_array, mask_batch, mask_values
from snellen.measure.regions import Boxes, checked_maps, region_masks, usable

Floats = NDArray[np.float64]


def energy_pointing_game(maps: ArrayLike, boxes: Boxes) -> Floats:
    """EnergyPG: the share of each map's energy inside the union of its boxes, float64 [B] in 0…1 (Won et al. 2023, eq. 1).

    `maps` [B, H, W] are not negative; `boxes` are per image a list of x0, y0, x1, y1 in pixels, maximum exclusive, cut to the
    image, or masks [B, H, W]. nan where a map is 0 everywhere or has a value that is no number, and where no part of a box
    lies in the image. An even map has the boxes' share of the image.

    >>> import numpy as np
    >>> from snellen.measure import energy_pointing_game
    >>> maps = np.ones((1, 4, 4))
    >>> energy_pointing_game(maps, [[[0, 0, 2, 4]]]).tolist()  # an even map has the box's share of the image
    [0.5]
    """
    heat = checked_maps(maps)
    inside = region_masks(boxes, heat.shape)
    within, whole = energies(heat, inside)
    known = usable(heat) & inside.any((1, 2))
    shares = np.divide(within, whole, out=np.full(len(heat), np.nan), where=known)
    return np.minimum(shares, 1)  # what is rounded may not leave the scale


def pointing_game(maps: ArrayLike, boxes: Boxes) -> Floats:
    """The pointing game (Zhang et al. 2016): 1 where the highest value of a map lies inside its boxes, else 0, float64 [B].

    Of several highest values the share that lies inside counts: an even map has the boxes' share of the image. Arguments and
    nan as for `energy_pointing_game`.

    >>> import numpy as np
    >>> from snellen.measure import pointing_game
    >>> maps = np.zeros((1, 4, 4))
    >>> maps[0, 1, 3] = 1
    >>> pointing_game(maps, [[[0, 0, 2, 4]]]).tolist()
    [0.0]
    """
    heat = checked_maps(maps)
    inside = region_masks(boxes, heat.shape)
    known = usable(heat) & inside.any((1, 2))
    peak = heat == heat.max((1, 2), keepdims=True)
    hits, peaks = ((peak & inside).sum((1, 2)), peak.sum((1, 2)))
    return np.divide(hits, peaks, out=np.full(len(heat), np.nan), where=known)


def gain_ratio(maps: ArrayLike, baseline_maps: ArrayLike, boxes: Boxes) -> Floats:
    """The energy gained inside the boxes by the energy gained in all, over a baseline's maps, float64 [B] (figure 3).

    Both maps are taken as they are, so they must have one scale: that of the audit is each map divided by its own maximum, as
    networks differ in how large their features and gradients are. Below the boxes' share of the image the gain went past the
    object. Where a map gains in all and loses inside it is negative; where both lose it is the share of the loss.
    nan where the energy in all is the same, and as for `energy_pointing_game`.

    >>> import numpy as np
    >>> from snellen.measure import gain_ratio
    >>> baseline = np.full((1, 2, 2), 0.25)
    >>> own = np.array([[[1.0, 0.25], [0.25, 0.25]]])
    >>> gain_ratio(own, baseline, [[[0, 0, 1, 1]]]).tolist()  # all that was gained lies in the box
    [1.0]
    """
    heat, baseline = checked_maps(maps), checked_maps(baseline_maps)
    if heat.shape != baseline.shape:
        raise ValueError(f"expected baseline maps of shape {list(heat.shape)}, got {list(baseline.shape)}")
    if heat.dtype != baseline.dtype and {heat.dtype, baseline.dtype} & {np.dtype(np.uint8), np.dtype(np.uint16)}:
        raise ValueError(
            f"expected maps of one scale, got {heat.dtype} and {baseline.dtype}; divide each by its maximum"
        )
    inside = region_masks(boxes, heat.shape)
    (within, whole), (within_before, whole_before) = energies(heat, inside), energies(baseline, inside)
    known = usable(heat) & usable(baseline) & inside.any((1, 2)) & (whole != whole_before)
    return np.divide(within - within_before, whole - whole_before, out=np.full(len(heat), np.nan), where=known)


def energies(maps: ArrayLike, masks: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The energy of each map inside its mask and in all, float64 [B] each."""
    heat = np.asarray(maps)
    with np.errstate(invalid="ignore"):
        return np.sum(heat, (1, 2), np.float64, where=masks), heat.sum((1, 2), np.float64)


@dataclass(frozen=True)
class EnergyGain(Estimate):
    """A gain ratio over many images: `inside` and `whole` are the mean energies gained in the boxes and in all.

    The interval is nan where the bootstrap cannot tell whether energy was gained or lost: a ratio by something that may be
    0 has none.
    """

    inside: float
    whole: float


def energy_gain(
    own: tuple[ArrayLike, ArrayLike], other: tuple[ArrayLike, ArrayLike], groups: ArrayLike | None = None
) -> EnergyGain:
    """The gain ratio of a model over another on the same images: what it gained inside by what it gained in all.

    `own` and `other` are each the energies inside and in all, [samples] or [runs, samples]; a sample counts where all are
    numbers, runs are averaged. It is the ratio of sums over images: the mean of single ratios follows those whose
    energy hardly changed.

    >>> from snellen.measure import energy_gain
    >>> energy_gain(own=([4, 5], [10, 10]), other=([2, 3], [6, 6])).value
    0.5
    """
    columns = np.stack([_mean(own[0]) - _mean(other[0]), _mean(own[1]) - _mean(other[1])], axis=1)
    columns, groups = keep(columns, groups, np.asarray(~np.isnan(columns).any(1)))
    if not len(columns):
        return EnergyGain(NO_DATA.value, NO_DATA.low, NO_DATA.high, 0, np.nan, np.nan)
    inside, whole = (float(mean) for mean in columns.mean(0))
    low, high = bootstrap_interval(columns, lambda sums: sums[:, 1], groups)
    value = inside / whole if whole else np.nan
    if whole and not low <= 0 <= high:
        low, high = bootstrap_interval(columns, lambda sums: sums[:, 0] / sums[:, 1], groups)
    else:
        low = high = np.nan
    return EnergyGain(value, low, high, len(columns), inside, whole)


def _mean(energy: ArrayLike) -> Floats:
    return np.asarray(as_runs(energy).astype(np.float64).mean(0))


def inside_mask(maps: ArrayLike, masks: ArrayLike) -> NDArray[np.float64]:
    """The share of each map's energy that lies inside its mask, float64 [B] in 0…1; nan where a map is 0 everywhere.

    `maps` [B, H, W] are not negative, `masks` [B, H, W] are true inside (or 1, or 255). An even map gives the mask's share of the
    image, which is what a share is to be compared with (Xiao et al. 2021, figure 6: networks trained on Mixed-Rand look at the
    foreground more).

    >>> import numpy as np
    >>> from snellen.measure import inside_mask
    >>> inside_mask(np.ones((1, 2, 2)), np.array([[[True, False], [False, False]]])).tolist()
    [0.25]
    """
    heat, inside = as_array(maps).astype(np.float64), mask_batch(masks)
    if heat.ndim != 3 or heat.shape != inside.shape:
        raise ValueError(f"expected maps and masks [B, H, W] alike, got {list(heat.shape)} and {list(inside.shape)}")
    if (heat < 0).any():
        raise ValueError(f"expected maps that are not negative, got {heat.min():g}")
    whole = heat.sum((1, 2))
    within = np.where(mask_values(inside), heat, 0).sum((1, 2))
    return np.divide(within, whole, out=np.full(len(heat), np.nan), where=whole > 0)
