"""The bootstrap over people and images at once: how far a number would move had other people seen other images.

People and images are drawn apart, and an answer counts as often as its person times its image was drawn (the pigeonhole
bootstrap, Owen 2007). It is slightly too wide rather than too narrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import REPEATS, alike_interval
from snellen.measure.estimate import NO_DATA, Estimate
from snellen.measure.joint_bootstrap import Floats, estimates, ratio

_BLOCK = 50


def two_way_draws(
    right: Floats,
    seen: Floats,
    statistic: Callable[[Floats, Floats], Floats],
    repeats: int = REPEATS,
    seed: int = 0,
    groups: ArrayLike | None = None,
) -> Floats:
    """`statistic` of resampled people and images, [repeats, k].

    `right` and `seen` are [people, images]. The statistic maps q [m, images], the accuracy of the resampled people on each image
    (nan where none of them saw it), and the images' weights [m, images] to [m, k]. With `groups` [images] the images of a group
    are drawn together, such as those of a video. Fewer than two people, or images or groups, give no row.
    """
    people, images = right.shape
    none = statistic(np.full((1, images), np.nan), np.ones((1, images)))[:0]
    if groups is not None and np.shape(groups) != (images,):
        raise ValueError(f"expected one group per image, got {np.shape(groups)} for {images} images")
    member = np.arange(images) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    units = int(member.max(initial=-1)) + 1
    if people < 2 or units < 2:
        return none
    draws = [none]
    for start in range(0, repeats, _BLOCK):
        random = np.random.default_rng((seed, start))
        many = min(_BLOCK, repeats - start)
        people_weights, unit_weights = (_weights(random, many, size) for size in (people, units))
        draws.append(statistic(ratio(people_weights @ right, people_weights @ seen), unit_weights[:, member]))
    return np.concatenate(draws)


def mean_over_images(
    right: Floats,
    seen: Floats,
    less: Floats | None = None,
    repeats: int = REPEATS,
    seed: int = 0,
    groups: ArrayLike | None = None,
) -> Estimate:
    """The mean over images of people's accuracy, less each image's value of `less` [images], if any; 95% interval over both.

    `groups` [images] as in `two_way_draws`.
    """
    if not right.size:
        return NO_DATA
    present = seen.any(1)  # one who saw none of these images cannot make their number surer
    right, seen = right[present], seen[present]
    other = np.zeros(right.shape[1]) if less is None else less

    def mean(q: Floats, weights: Floats) -> Floats:
        counted = np.where(np.isnan(q), 0, weights)
        return ratio((np.nan_to_num(q - other) * counted).sum(1, keepdims=True), counted.sum(1, keepdims=True))

    value = mean(ratio(right.sum(0), seen.sum(0))[None], np.ones((1, right.shape[1])))[0]
    estimate = estimates(value, two_way_draws(right, seen, mean, repeats, seed, groups), np.array([right.shape[1]]))[0]
    if estimate.high - estimate.low > 1e-12 or np.isnan(estimate.low):
        return estimate
    # All answers are alike: neither more people nor more images than there are can have shown that.
    units = min(len(right), right.shape[1] if groups is None else len(np.unique(np.asarray(groups))))
    low, high = alike_interval(estimate.value, units, (-1.0 if less is not None else 0.0, 1.0))
    return replace(estimate, low=low, high=high)


def _weights(random: np.random.Generator, many: int, size: int) -> NDArray[np.float64]:
    """How often each of `size` was drawn, [many, size]."""
    return random.multinomial(size, np.full(size, 1 / size), many).astype(np.float64)
