"""How well people recognise images, without those who do far worse than others (Kassaw et al. 2024, 3.3 and 6.3)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import ceil, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.accuracies import accuracy
from snellen.measure.bootstrap import REPEATS
from snellen.measure.estimate import NO_DATA, Estimate
from snellen.measure.responses import Floats, ResponseColumns, Responses, read_responses
from snellen.measure.two_way import mean_over_images

Side = Literal["both", "low", "high"]


@dataclass(frozen=True)
class HumanAccuracy(Estimate):
    """`value` is the mean over images of `q`, the share of right answers to each image, without outliers; `n` the images.

    `by_level` has the same for each level. `normalised` is each observer's accuracy less the mean q of the images that he or she
    saw, outliers included; nan for one who shares no image with another. `outliers` are the observers who were removed, and
    `observers` those who count. Intervals are a bootstrap over people and images.
    """

    q: dict[Hashable, float] = field(compare=False)
    by_level: dict[Hashable, Estimate]
    normalised: dict[Hashable, float]
    outliers: tuple[Hashable, ...]
    observers: tuple[Hashable, ...]


@dataclass(frozen=True)
class TopRespondents:
    """The best `observers`, their accuracy (`people`), and the models on the images that these people saw.

    `models` has each model's accuracy on all those images under None, and by level. `people.normalised` has the normalised
    accuracy of all who are no outliers, which the choice was made by.
    """

    observers: tuple[Hashable, ...]
    people: HumanAccuracy
    models: dict[str, dict[Hashable, Estimate]]


def human_accuracy(
    responses: ResponseColumns,
    remove_outliers: bool = True,
    *,
    groups: str | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
) -> HumanAccuracy:
    """Accuracy of people: `responses` has the columns observer, sample, label, answer and level, one row per answer.

    Observers whose normalised accuracy is a low outlier by Tukey's rule are removed, and q is computed again without them.
    Where every image was rated by one person that cannot be done: ValueError, unless `remove_outliers` is false. `groups` names
    a column of images that are drawn together, such as their video.

    >>> from snellen.measure import human_accuracy
    >>> responses = {
    ... "observer": ["ada", "ada", "ben", "ben"], "sample": [1, 2, 1, 2], "level": [0, 1, 0, 1],
    ... "label": ["cat", "dog", "cat", "dog"], "answer": ["cat", "dog", "cat", "cat"],
    ... }
    >>> human_accuracy(responses).value
    0.75
    """
    table = read_responses(responses, ("level", *([groups] if groups else [])))
    if not remove_outliers:
        return _measured(table, _normalised(table), (), (repeats, seed), groups)
    _refuse_single_ratings(table)
    normalised = _normalised(table)
    low = tukey_outliers(list(normalised.values()), "low")
    outliers = tuple(observer for observer, far in zip(table.observers, low) if far)
    rest = table.only(set(table.observers) - set(outliers))
    return _measured(rest, normalised, outliers, (repeats, seed), groups)


def top_respondents(
    responses: ResponseColumns,
    models: Mapping[str, Mapping[Any, float]],
    k: int | None = None,
    *,
    remove_outliers: bool = True,
    repeats: int = REPEATS,
) -> TopRespondents:
    """The `k` observers of the highest normalised accuracy, and each model on the images that they saw.

    `models` maps a model's name to {sample: right or wrong}. Outliers are removed first, unless `remove_outliers` is false: where
    they are gone already, Tukey's rule would find new ones among those who stay. The normalised accuracy is that among the
    rest. The paper does not say how its nine of eighteen were chosen: without `k` they are the better half, rounded up.

    >>> from snellen.measure import top_respondents
    >>> responses = {
    ... "observer": ["ada", "ada", "ben", "ben"], "sample": [1, 2, 1, 2], "level": [0, 1, 0, 1],
    ... "label": ["cat", "dog", "cat", "dog"], "answer": ["cat", "dog", "cat", "cat"],
    ... }
    >>> found = top_respondents(responses, {"resnet": {1: 1, 2: 0}}, k=1)
    >>> found.observers
    ('ada',)
    """
    table = read_responses(responses)
    everyone = human_accuracy(responses, remove_outliers, repeats=0)
    rest = table.only(everyone.observers)
    normalised = {name: value for name, value in _normalised(rest).items() if not np.isnan(value)}
    count = ceil(len(normalised) / 2) if k is None else k
    if not 1 <= count <= len(normalised):
        raise ValueError(f"expected k from 1 to the {len(normalised)} observers who can be compared, got {k}")
    best = tuple(sorted(normalised, key=lambda observer: -normalised[observer])[:count])
    top = rest.only(best)
    scores = {name: model_scores(own, top, name) for name, own in models.items()}
    return TopRespondents(
        best,
        _measured(top, normalised, everyone.outliers, (repeats, 0)),
        {name: _by_level(own, top) for name, own in scores.items()},
    )


def model_scores(model: Mapping[Any, ArrayLike], table: Responses, name: str = "the model") -> Floats:
    """A model's scores on the images of the responses, [images] or [runs, images]; nan is no answer."""
    missing = [sample for sample in table.samples if np.isnan(np.asarray(model.get(sample, nan), np.float64)).any()]
    if missing:
        raise ValueError(
            f"expected an answer of {name} to every image that people saw, got none to {len(missing)}, '{missing[0]}' first"
        )
    return np.array([model[sample] for sample in table.samples], np.float64).T


def image_groups(table: Responses, groups: str | None) -> NDArray[np.int64] | None:
    """The number of each image's group, [images], by the column of this name; None without one."""
    if groups is None:
        return None
    places = {group: place for place, group in enumerate(dict.fromkeys(table.of_image[groups]))}
    return np.array([places[group] for group in table.of_image[groups]], np.int64)


def mean_by_level(table: Responses, repeats: int, seed: int, groups: str | None = None) -> dict[Hashable, Estimate]:
    """The mean over the images of each level."""
    levels, members = {}, image_groups(table, groups)
    for level in sorted(set(table.of_image["level"])):
        own = np.array([image_level == level for image_level in table.of_image["level"]])
        right, seen = table.right[:, own], table.seen[:, own]
        levels[level] = mean_over_images(right, seen, None, repeats, seed, None if members is None else members[own])
    return levels


def _measured(
    table: Responses,
    normalised: dict[Hashable, float],
    outliers: tuple[Hashable, ...],
    draws: tuple[int, int],
    groups: str | None = None,
) -> HumanAccuracy:
    whole = mean_over_images(table.right, table.seen, None, *draws, image_groups(table, groups))
    levels = mean_by_level(table, *draws, groups)
    q = dict(zip(table.samples, table.accuracy().tolist()))
    return HumanAccuracy(whole.value, whole.low, whole.high, whole.n, q, levels, normalised, outliers, table.observers)


def _normalised(table: Responses) -> dict[Hashable, float]:
    """a_i less the mean q over the images that observer i saw (equation 2); q includes the observer's own answer."""
    q, seen = table.accuracy(), table.seen
    own = table.right.sum(1) / seen.sum(1)
    expected = (seen @ q) / seen.sum(1)
    compared = (seen * table.shared).any(1)
    return dict(zip(table.observers, np.where(compared, own - expected, np.nan).tolist()))


def _refuse_single_ratings(table: Responses) -> None:
    if len(table.samples) and not table.shared.any():
        raise ValueError(
            "normalised accuracy and Tukey's rule compare people on the same images, but each image was rated by one person "
            "only; pass remove_outliers=False to count all of them"
        )


def _by_level(scores: Floats, table: Responses) -> dict[Hashable, Estimate]:
    levels = table.of_image["level"]
    parts = {level: scores[[own == level for own in levels]] for level in sorted(set(levels))}
    return {
        None: accuracy(scores) if len(scores) else NO_DATA,
        **{level: accuracy(own) for level, own in parts.items()},
    }


def tukey_outliers(values: ArrayLike, side: Side = "both") -> NDArray[np.bool_]:
    """Which values lie more than 1.5 interquartile ranges below the lower or above the upper quartile, bool [values].

    Quartiles are interpolated linearly (NumPy's default; the paper names no rule). `side` looks at low or high values only. nan
    is no outlier and does not count.

    >>> from snellen.measure import tukey_outliers
    >>> tukey_outliers([0.7, 0.72, 0.74, 0.71, 0.1]).tolist()
    [False, False, False, False, True]
    """
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"expected values [n], got an array of shape {list(numbers.shape)}")
    if side not in ("both", "low", "high"):
        raise ValueError(f"expected side both, low or high, got '{side}'")
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return np.zeros(len(numbers), bool)
    lower, upper = np.quantile(known, (0.25, 0.75))
    reach = 1.5 * (upper - lower)
    below, above = numbers < lower - reach, numbers > upper + reach
    return np.asarray({"both": below | above, "low": below, "high": above}[side])
