"""Error consistency: whether two answerers err on the same images, beyond what their accuracies explain (Geirhos et al. 2020).

It is Cohen's kappa on right and wrong: (c_obs − c_exp) / (1 − c_exp), where c_obs is the share of images on which both are
right or both are wrong, and c_exp = p q + (1 − p)(1 − q) that of independent answerers with accuracies p and q. Chance gives 0,
whatever the accuracies. Accuracies that differ allow less than 1: c_obs lies between |p + q − 1| and 1 − |p − q|.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.answerer_pairs import Pairs, pair_columns
from snellen.measure.bootstrap import REPEATS
from snellen.measure.error_kappa_interval import consistency_interval
from snellen.measure.estimate import Estimate, as_runs
from snellen.measure.human import image_groups, model_scores
from snellen.measure.joint_bootstrap import Floats, ratio
from snellen.measure.responses import ResponseColumns, read_responses

PEOPLE = "people"
NOTHING_SHARED = "no image was answered by both"
NO_PAIR = "there is one answerer only"
ALWAYS_ALIKE = "one of them is right on every image that both answered, or on none, so no errors can be compared"


@dataclass(frozen=True)
class ErrorConsistency(Estimate):
    """`value` is kappa, a mean over `pairs` of answerers; `n` images were answered by both of at least one pair.

    `observed` and `expected` are the shares of images with both right or both wrong: as they are, and of independent answerers
    with the same accuracies, `first` and `second`. `lowest` and `highest` are the least and the most kappa that these accuracies
    allow. All are means over the same pairs on the images that both answered. `pairs_left_out` had nothing to compare. `reason`
    says why there is no value.
    """

    observed: float
    expected: float
    lowest: float
    highest: float
    first: float
    second: float
    pairs: int
    pairs_left_out: int
    reason: str = ""


def error_consistency(
    first: ArrayLike,
    second: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    people: bool = True,
    repeats: int = REPEATS,
    seed: int = 0,
) -> ErrorConsistency:
    """The mean kappa of each of `first` with each of `second`, or of the pairs within `first`.

    Both are [images] or [answerers, images]: 1 right, 0 wrong, nan not answered. The 95% interval is a bootstrap over images, or
    over their `groups` [images], and over the rows of `first` too where these are several `people`; runs of a model are no
    people. Rows of `second` are never drawn.

    >>> from snellen.measure import error_consistency
    >>> right = [1, 1, 1, 0, 0, 1, 0, 1]
    >>> error_consistency(right, right).value
    1.0
    >>> round(error_consistency(right, [1, 1, 0, 0, 1, 1, 0, 1]).value, 3)
    0.467
    """
    rows = _scores(first)
    others = rows if second is None else _scores(second)
    if rows.shape[1] != others.shape[1]:
        raise ValueError(f"expected answers to the same images, got {rows.shape[1]} and {others.shape[1]}")
    one, other = np.triu_indices(len(rows), 1) if second is None else _grid(len(rows), len(others))
    columns = pair_columns(rows[one], others[other])
    shared = np.asarray(columns[:, 0].any(1))
    columns = columns[shared]
    point = Pairs.of(columns.sum(0)[None])
    counted = ~np.isnan(point.kappa[0])
    n = int(shared.sum())
    if not counted.any():
        reason = NO_PAIR if not len(one) else ALWAYS_ALIKE if n else NOTHING_SHARED
        return ErrorConsistency(nan, nan, nan, n, nan, nan, nan, nan, nan, nan, 0, len(one), reason)
    columns, one, other = columns[:, :, counted], one[counted], other[counted]
    labels = None if groups is None else _labels(groups, shared)
    without = None
    if people and len(rows) > 1:
        who = np.arange(len(rows))[:, None]
        without = ((one != who) & ((other != who) | (second is not None))).astype(np.float64)
    kappa, observed, expected, lowest, highest, p, q = (float(each[0, counted].mean()) for each in point.means())
    low, high = consistency_interval(columns, kappa, expected, labels, without, (repeats, seed))
    many, left = int(counted.sum()), int((~counted).sum())
    return ErrorConsistency(kappa, low, high, n, observed, expected, lowest, highest, p, q, many, left)


def error_consistencies(
    responses: ResponseColumns,
    models: Mapping[str, Mapping[Any, ArrayLike]] | None = None,
    *,
    groups: str | None = None,
    between_models: bool = True,
    repeats: int = REPEATS,
    seed: int = 0,
) -> dict[tuple[Hashable, Hashable], ErrorConsistency]:
    """Error consistency of every pair: (`people`, `people`), (`people`, a model) and (a model, another).

    `responses` has the columns observer, sample, label and answer; `models` maps samples to right or wrong, or to a value for
    each run. All are compared on the images that people saw. The first of them is the ceiling: as consistent as people are with
    each other. Without `between_models` the last kind is left out. `groups` names a column of images that are drawn together,
    such as their video.

    >>> from snellen.measure import error_consistencies
    >>> responses = {
    ... "observer": ["ada", "ada", "ben", "ben"], "sample": [1, 2, 1, 2],
    ... "label": ["cat", "dog", "cat", "dog"], "answer": ["cat", "cat", "cat", "cat"],
    ... }
    >>> error_consistencies(responses)["people", "people"].value
    1.0
    """
    table = read_responses(responses, [groups] if groups else [])
    crowd, members = ratio(table.right, table.seen), image_groups(table, groups)
    scores = {name: np.atleast_2d(model_scores(own, table, name)) for name, own in (models or {}).items()}
    more: dict[str, Any] = {"repeats": repeats, "seed": seed}
    found: dict[tuple[Hashable, Hashable], ErrorConsistency] = {
        (PEOPLE, PEOPLE): error_consistency(crowd, None, members, **more)
    }
    for name, own in scores.items():
        found[PEOPLE, name] = error_consistency(crowd, own, members, **more)
    names = list(scores) if between_models else []
    for place, name in enumerate(names):
        for another in names[place + 1 :]:
            found[name, another] = error_consistency(scores[name], scores[another], members, people=False, **more)
    return found


def _scores(rows: ArrayLike) -> Floats:
    scores = as_runs(rows).astype(np.float64)
    outside = (scores < 0) | (scores > 1)
    if outside.any():
        raise ValueError(f"expected answers that are right (1) or wrong (0), or nan, got {scores[outside][0]:g}")
    return scores


def _grid(first: int, second: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    one, other = np.divmod(np.arange(first * second), max(second, 1))
    return one, other


def _labels(groups: ArrayLike, shared: NDArray[np.bool_]) -> NDArray[Any]:
    labels = np.asarray(groups)
    if labels.shape != shared.shape:
        raise ValueError(f"expected one group per image, got {labels.shape} for {len(shared)} images")
    return np.asarray(labels[shared])
