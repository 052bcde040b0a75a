"""What the background does: the BG-Gap, and the part it plays in each single answer (Xiao et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.accuracies import accuracy
from snellen.measure.bootstrap import paired_difference
from snellen.measure.estimate import Estimate, as_runs

IRRELEVANT, REQUIRED, BOTH_REQUIRED, FOOLS, BOTH_FOOL = CATEGORIES = (
    "BG Irrelevant",
    "BG Required",
    "BG+FG Required",
    "BG Fools",
    "BG+FG Fools",
)
# (right on the full image, right on the foreground, right on the background), the first one the highest bit
_TABLE = np.array(
    [IRRELEVANT, IRRELEVANT, FOOLS, BOTH_FOOL, BOTH_REQUIRED, REQUIRED, IRRELEVANT, IRRELEVANT], dtype=object
)


@dataclass(frozen=True)
class Categories(Estimate):
    """`value` is the share of images that need their background: BG Required and BG+FG Required together.

    `labels` are strings of the shape given, '' where an image does not count; `counts` how many images are in each of
    the five categories, over all runs; `n` is the number of images.
    """

    labels: NDArray[np.object_]
    counts: dict[str, int]


def bg_gap(mixed_same_correct: ArrayLike, mixed_rand_correct: ArrayLike, groups: ArrayLike | None = None) -> Estimate:
    """Accuracy lost when the class of the background is drawn at random (Xiao et al. 2021, table 2).

    Mean of the first less mean of the second, −1 to 1. Both are [samples] or [runs, samples] of 0/1, paired by
    foreground; nan does not count. The interval is a paired bootstrap over samples, or over `groups` of them.

    >>> from snellen.measure import bg_gap
    >>> bg_gap([1, 1, 1, 1], [1, 0, 1, 0]).value
    0.5
    """
    return paired_difference(mixed_same_correct, mixed_rand_correct, groups)


def background_categories(
    full_correct: ArrayLike,
    foreground_correct: ArrayLike,
    background_correct: ArrayLike,
    groups: ArrayLike | None = None,
) -> Categories:
    """What part foreground and background play in each answer (Xiao et al. 2021, table 3).

    0/1 [samples] or [runs, samples], of the same images: right on the full image (Original), on the foreground
    (Mixed-Rand) and on the background (Only-BG-T). Full and foreground alike: BG Irrelevant. Right on the full image
    only by the help of the background: BG Required where that alone is right, else BG+FG Required. Wrong although the
    foreground is right: BG+FG Fools where the background alone is right too, else BG Fools. A nan in one does not count.

    >>> from snellen.measure import background_categories
    >>> full, foreground, background = [1, 1, 0], [1, 0, 1], [0, 1, 0]
    >>> found = background_categories(full, foreground, background)
    >>> found.labels.tolist()
    ['BG Irrelevant', 'BG Required', 'BG Fools']
    """
    given = [
        np.asarray(correct, dtype=np.float64) for correct in (full_correct, foreground_correct, background_correct)
    ]
    if len({correct.shape for correct in given}) != 1:
        raise ValueError(f"expected three answers per image, got {', '.join(str(correct.shape) for correct in given)}")
    as_runs(given[0])
    for correct in given:
        if not np.isin(correct[~np.isnan(correct)], (0, 1)).all():
            raise ValueError("expected answers that are right (1) or wrong (0), or nan")
    counted = ~np.isnan(np.sum(given, axis=0))
    full, foreground, background = (np.where(counted, correct, 0).astype(np.int64) for correct in given)
    labels = np.where(counted, _TABLE[4 * full + 2 * foreground + background], "").astype(object)
    needed = np.where(counted, np.isin(labels, (REQUIRED, BOTH_REQUIRED)).astype(np.float64), np.nan)
    share = accuracy(needed, groups)
    counts = {name: int((labels == name).sum()) for name in CATEGORIES}
    return Categories(share.value, share.low, share.high, share.n, labels, counts)
