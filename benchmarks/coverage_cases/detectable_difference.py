"""The smallest visible difference: a true one of that size is called clear in 80% of cases, whatever the number of tests."""

from __future__ import annotations

import numpy as np

from coverage_cases.row import Row
from snellen.measure import compare, detectable_difference, holm

IMAGES = 1000


def rows(simulations: int, seed: int) -> list[Row]:
    """One, 6 and 66 comparisons (2, 4 and 12 models), and 6 on eight groups; one true difference, or all of them true."""
    one = [_row(simulations, seed, tests, False) for tests in (1, 6, 66)]
    table = [*one, *(_row(max(1, simulations // tests), seed, tests, True) for tests in (6, 66))]
    return [*table, _grouped(simulations, seed)]


def _row(simulations: int, seed: int, tests: int, every: bool) -> Row:
    """The statistic of a comparison is the mean of paired differences of −1, 0 and 1, of deviation 0.6."""
    random, clear = np.random.default_rng([seed, tests, every]), 0
    error = 0.6 / np.sqrt(IMAGES)
    reach = detectable_difference(error, IMAGES, tests)
    for _ in range(simulations):
        p = [_p(random, reach if one == 0 or every else 0.0) for one in range(tests)]
        clear += holm(p)[0] < 0.05
    which = "all of them true" if every and tests > 1 else "one of them true"
    case = f"{tests} comparison{'s' if tests > 1 else ''}, {which if tests > 1 else 'a true difference'}"
    high = 1.0 if every else 0.86
    return Row(
        "Smallest visible difference",
        case,
        "shown in 80% of cases or more",
        clear / simulations,
        0.76,
        high,
        simulations,
    )


def _p(random: np.random.Generator, difference: float) -> float:
    """The p-value of 1,000 pairs whose mean difference is planted: one model alone right, the other alone, or neither."""
    apart = 0.36 + difference**2
    first, second, _ = random.multinomial(IMAGES, [(apart + difference) / 2, (apart - difference) / 2, 1 - apart])
    a = np.arange(IMAGES) < first
    b = (np.arange(IMAGES) >= first) & (np.arange(IMAGES) < first + second)
    return compare(a.astype(float), b.astype(float)).p if difference else float(random.random())


def _grouped(simulations: int, seed: int) -> Row:
    """Eight groups of 40 images, each with its own difference: the statistic has seven degrees of freedom."""
    random, clear, groups, tests = np.random.default_rng([seed, 8]), 0, 8, 6
    member = np.repeat(np.arange(groups), 40)
    reach = detectable_difference(0.1 / np.sqrt(groups), groups, tests)
    for _ in range(simulations):
        shift = (reach + 0.1 * random.normal(size=groups))[member]
        p = [compare(0.5 + shift, np.full(len(member), 0.5), member).p, *random.random(tests - 1)]
        clear += holm(p)[0] < 0.05
    case = "6 comparisons on 8 groups, one of them true"
    return Row(
        "Smallest visible difference",
        case,
        "shown in 80% of cases or more",
        clear / simulations,
        0.76,
        0.88,
        simulations,
    )
