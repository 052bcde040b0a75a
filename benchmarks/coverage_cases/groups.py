"""Intervals over groups such as videos: accuracy, and a paired difference, from five groups on, of similar and uneven size."""

from __future__ import annotations

import numpy as np

from coverage_cases.row import Row
from snellen.measure import accuracy, compare, paired_difference

SUBJECT = "Groups"
ALIKE = 5.0  # a + b of the groups' beta law: images of a group correlate by 1 / (1 + ALIKE) = 0.17
PROMISE = "the interval holds the truth at least 93% of the time"


SIZES = ("10 to 39 images", "one with half of the images", "sizes that fall by 40%", "sizes of a log-normal law")


def rows(simulations: int, seed: int) -> list[Row]:
    """5, 10, 20 and 50 groups of 10 to 39 images; 5, 10 and 20 groups of very uneven size, half as often."""
    table = []
    for groups in (5, 10, 20, 50):
        for share in (0.7, 0.9):
            table.append(_accuracy(simulations, seed, groups, share))
        table += _difference(simulations, seed, groups)
    for sizes in SIZES[1:]:
        for groups in (5, 10, 20):
            table.append(_accuracy(max(1, simulations // 2), seed, groups, 0.8, sizes))
            table += _difference(max(1, simulations // 2), seed, groups, sizes)
    return table


def _members(random: np.random.Generator, groups: int, sizes: str) -> np.ndarray:
    count = {
        SIZES[0]: lambda: random.integers(10, 40, groups),
        SIZES[1]: lambda: np.array([20 * (groups - 1), *[20] * (groups - 1)]),
        SIZES[2]: lambda: np.maximum(2, (200 * 0.6 ** np.arange(groups)).astype(int)),
        SIZES[3]: lambda: np.maximum(1, np.exp(3 + 1.2 * random.normal(size=groups)).astype(int)),
    }[sizes]()
    return np.repeat(np.arange(groups), count)


def _uneven(sizes: str) -> str:
    return "" if sizes == SIZES[0] else f", {sizes}"


def _answers(random: np.random.Generator, member: np.ndarray, groups: int, share: float) -> np.ndarray:
    return (random.random(len(member)) < random.beta(ALIKE * share, ALIKE * (1 - share), groups)[member]).astype(float)


def _accuracy(simulations: int, seed: int, groups: int, share: float, sizes: str = SIZES[0]) -> Row:
    random, hits = np.random.default_rng([seed, groups, int(100 * share)]), 0
    for _ in range(simulations):
        member = _members(random, groups, sizes)
        found = accuracy(_answers(random, member, groups, share), member)
        hits += found.low <= share <= found.high
    return Row(
        SUBJECT,
        f"{groups} groups{_uneven(sizes)}, accuracy {share:g}",
        PROMISE,
        hits / simulations,
        0.93,
        1.0,
        simulations,
    )


def _difference(simulations: int, seed: int, groups: int, sizes: str = SIZES[0]) -> list[Row]:
    random, hits, alarms = np.random.default_rng([seed, groups]), 0, 0
    for _ in range(simulations):
        member = _members(random, groups, sizes)
        a, b, c = (_answers(random, member, groups, share) for share in (0.8, 0.7, 0.7))
        found = paired_difference(a, b, member)
        hits += found.low <= 0.1 <= found.high
        alarms += compare(b, c, member).p < 0.05
    alarm = "equal models are called different in at most 5% of cases (7% allowed)"
    return [
        Row(
            SUBJECT,
            f"{groups} groups{_uneven(sizes)}, difference 0.1",
            PROMISE,
            hits / simulations,
            0.93,
            1.0,
            simulations,
        ),
        Row(
            SUBJECT,
            f"{groups} groups{_uneven(sizes)}, no difference",
            alarm,
            alarms / simulations,
            0.0,
            0.07,
            simulations,
        ),
    ]
