"""How often a table would agree if the truth were what is published: the most that its verdict can be expected to say.

Runs of ours are drawn as normal, with the published means and deviations and our number of runs, and judged beside the published
values by the rule of verdicts.py. A table that would seldom agree even so says little where it does not. Rows of a table are
drawn apart, though some share their runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from verdicts import AGREES, DISAGREES, Sample, of_table, verdict

DRAWS = 2000
Samples = Mapping[str, Sample]


@dataclass(frozen=True)
class Ceiling:
    """Shares of the draws in which a table agrees and disagrees."""

    agrees: float
    disagrees: float


def ceiling(rows: Sequence[tuple[Samples, Samples, float]], draws: int = DRAWS, seed: int = 0) -> Ceiling:
    """Of one table: each row is ours (only the numbers of runs count), the published values and the bound of their unit."""
    random = np.random.default_rng(seed)
    drawn = [list(_draws(ours, published, draws, random)) for ours, published, _ in rows]
    words = [
        of_table([verdict(one[number], published, bound).word for one, (_, published, bound) in zip(drawn, rows)])
        for number in range(draws)
    ]
    return Ceiling(words.count(AGREES) / draws, words.count(DISAGREES) / draws)


def _draws(ours: Samples, published: Samples, draws: int, random: np.random.Generator) -> Sequence[Samples]:
    """Samples by method, `draws` of them; a method without a spread on both sides stays out, as in a verdict."""
    methods = [name for name, one in published.items() if name in ours and one.is_usable and ours[name].is_usable]
    columns = {}
    for name in methods:
        runs = random.normal(published[name].mean, published[name].sd, (draws, ours[name].runs))
        columns[name] = zip(runs.mean(1).tolist(), runs.std(1, ddof=1).tolist())
    return [
        {name: Sample(mean, sd, ours[name].runs) for name, (mean, sd) in zip(methods, row)}
        for row in zip(*columns.values())
    ] or [{}] * draws
