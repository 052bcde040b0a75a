"""People beside models: the gap between them by condition, and clicks on the wrong object (Kassaw et al. 2024, 6.3 and 7)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import REPEATS
from snellen.measure.estimate import Estimate
from snellen.measure.human import image_groups, mean_by_level, model_scores
from snellen.measure.masks import FULL, mask_values, numbers_of
from snellen.measure.responses import Floats, ResponseColumns, column, read_responses, select
from snellen.measure.two_way import mean_over_images

GREY = 128  # above it a pixel of a grey picture of a mask is the object's


@dataclass(frozen=True)
class HumanGap(Estimate):
    """`value` is `human` less `model`, both means over the images that people saw; 95% interval over people and images."""

    human: float
    model: float


def human_gap(
    responses: ResponseColumns,
    model: Mapping[Any, float],
    by: Sequence[str] = ("level",),
    *,
    groups: str | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> dict[tuple[Hashable, ...], HumanGap]:
    """How much better people are than a model on the same images, for each combination of the columns `by`.

    `responses` as in `human_accuracy`, with the columns of `by` (level, kind), each with one value per image; `model` maps
    samples to right or wrong, or to a mean over runs. Remove outliers first: `without_observers`. The key () has all images.
    `groups` names a column of images that are drawn together, such as their video.
    """
    table = read_responses(responses, tuple(dict.fromkeys([*by, *([groups] if groups else [])])))
    scores = model_scores(model, table)
    keys = list(zip(*(table.of_image[name] for name in by))) if by else []
    members = image_groups(table, groups)
    everything = np.ones(len(table.samples), bool)
    gaps: dict[tuple[Hashable, ...], HumanGap] = {}
    for key in ((), *dict.fromkeys(keys)):
        own = np.array([image_key == key for image_key in keys], bool) if key else everything
        right, seen = table.right[:, own], table.seen[:, own]
        gaps[key] = _gap(right, seen, scores[own], repeats, seed, None if members is None else members[own])
    return gaps


def click_hits(x: ArrayLike, y: ArrayLike, masks: Sequence[ArrayLike]) -> Floats:
    """Whether each click lies on the object: 1, 0, or nan where there was no click.

    `x` and `y` [n] are shares of the width and height, 0 to 1; `masks` holds one mask [H, W] per click, on the object
    above 128 of a grey picture, as the published program has it, or true, or 1.
    """
    across, down = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if not across.shape == down.shape == (len(masks),):
        raise ValueError(f"expected one x, y and mask per click, got {across.shape}, {down.shape} and {len(masks)}")
    outside = (across < 0) | (across > 1) | (down < 0) | (down > 1)
    if outside.any():
        first = int(np.argmax(outside))
        raise ValueError(f"expected clicks from 0 to 1, got ({across[first]:g}, {down[first]:g})")
    hits = np.full(len(masks), np.nan)
    for place in np.flatnonzero(~np.isnan(across + down)).tolist():
        mask = numbers_of(masks[place], f" for click {place}")
        if mask.ndim != 2:
            raise ValueError(
                f"expected a mask [H, W] per click, got an array of shape {list(mask.shape)} for click {place}"
            )
        is_grey = mask.dtype.kind in "iuf" and mask.max(initial=0) > 1 and ((mask >= 0) & (mask <= FULL)).all()
        inside = mask > GREY if is_grey else mask_values(mask, f" for click {place}")
        height, width = mask.shape
        row, line = min(int(down[place] * height), height - 1), min(int(across[place] * width), width - 1)
        hits[place] = inside[row, line]
    return hits


def wrong_object_clicks(
    responses: ResponseColumns, *, repeats: int = REPEATS, seed: int = 0
) -> dict[Hashable, Estimate]:
    """The share of clicks beside the object by level, and over all under None: mean over images, as accuracy is.

    `responses` has the columns observer, sample, level and hit (1 on the object, 0 beside it, nan without a click; see
    `click_hits`). Rows without a click do not count.
    """
    hits = np.array(column(responses, "hit"), np.float64)
    clicked = ~np.isnan(hits)
    rows = {name: select(column(responses, name), clicked) for name in ("observer", "sample", "level")}
    misses = (hits[clicked] == 0).tolist()
    table = read_responses({**rows, "label": [True] * len(misses), "answer": misses})
    return {
        None: mean_over_images(table.right, table.seen, repeats=repeats, seed=seed),
        **mean_by_level(table, repeats, seed),
    }


def _gap(
    right: Floats, seen: Floats, scores: Floats, repeats: int, seed: int, groups: NDArray[np.int64] | None
) -> HumanGap:
    gap = mean_over_images(right, seen, scores, repeats, seed, groups)
    model = float(scores.mean()) if len(scores) else np.nan
    return HumanGap(gap.value, gap.low, gap.high, gap.n, gap.value + model, model)
