"""The bootstrap over people and images at once: how far a number would move had other people seen other images.

People and images are drawn apart, and an answer counts as often as its person times its image was drawn (the pigeonhole
bootstrap, Owen 2007). It is slightly too wide rather than too narrow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from snellen.measure.bootstrap import REPEATS
from snellen.measure.estimate import NO_DATA, Estimate
from snellen.measure.joint_bootstrap import Floats, estimates, ratio

_BLOCK = 50


def two_way_draws(
    right: Floats,
    seen: Floats,
    statistic: Callable[[Floats, Floats], Floats],
    repeats: int = REPEATS,
    seed: int = 0,
) -> Floats:
    """`statistic` of resampled people and images, [repeats, k].

    `right` and `seen` are [people, images]. The statistic maps q [m, images], the accuracy of the resampled people on each image
    (nan where none of them saw it), and the images' weights [m, images] to [m, k]. Fewer than two people or images give no row.
    """
    people, images = right.shape
    none = statistic(np.full((1, images), np.nan), np.ones((1, images)))[:0]
    if people < 2 or images < 2:
        return none
    draws = [none]
    for start in range(0, repeats, _BLOCK):
        random = np.random.default_rng((seed, start))
        many = min(_BLOCK, repeats - start)
        people_weights, image_weights = (_weights(random, many, size) for size in (people, images))
        draws.append(statistic(ratio(people_weights @ right, people_weights @ seen), image_weights))
    return np.concatenate(draws)


def mean_over_images(
    right: Floats, seen: Floats, less: Floats | None = None, repeats: int = REPEATS, seed: int = 0
) -> Estimate:
    """The mean over images of people's accuracy, less each image's value of `less` [images], if any; 95% interval over both."""
    if not right.size:
        return NO_DATA
    present = seen.any(1)  # one who saw none of these images cannot make their number surer
    right, seen = right[present], seen[present]
    other = np.zeros(right.shape[1]) if less is None else less

    def mean(q: Floats, weights: Floats) -> Floats:
        counted = np.where(np.isnan(q), 0, weights)
        return ratio((np.nan_to_num(q - other) * counted).sum(1, keepdims=True), counted.sum(1, keepdims=True))

    value = mean(ratio(right.sum(0), seen.sum(0))[None], np.ones((1, right.shape[1])))[0]
    return estimates(value, two_way_draws(right, seen, mean, repeats, seed), np.array([right.shape[1]]))[0]


def _weights(random: np.random.Generator, many: int, size: int) -> NDArray[np.float64]:
    """How often each of `size` was drawn, [many, size]."""
    return random.multinomial(size, np.full(size, 1 / size), many).astype(np.float64)
