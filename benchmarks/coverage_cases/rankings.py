"""Ranks of models and τ between two rankings: whether the intervals over images hold what endless images would give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri

from coverage_cases.row import Row
from snellen.measure import kendall_tau, proxy_taus, rank_bootstrap
from snellen.measure.friedman_test import ranks_of

PROMISE = "the interval holds the truth at least 93% of the time"
REPEATS = 400


@dataclass(frozen=True)
class Case:
    """Models whose skill is spread over `spread` log odds and moves by `own` from judge to judge, on `images` per judge."""

    models: int
    judges: int
    images: int
    spread: float
    own: float

    def __str__(self) -> str:
        return (
            f"{self.models} models, {self.judges} judges of {self.images:,} images, skills over {self.spread:g} log odds, "
            f"by judge ± {self.own:g}"
        )

    def draw(self, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """True accuracies [models, judges], answers [models, samples] and judges [samples]; hard images are so for all."""
        skill = np.linspace(-0.5, 0.5, self.models) * self.spread
        true = expit(0.8 + skill[:, None] + self.own * random.normal(size=(self.models, self.judges)))
        judge = np.repeat(np.arange(self.judges), self.images)
        luck = np.sqrt(0.5) * (random.normal(size=judge.size) + random.normal(size=(self.models, judge.size)))
        return true, (ndtri(true[:, judge]) > luck).astype(float), judge


CASES = (
    Case(8, 3, 100, 1.0, 0.3),
    Case(8, 3, 100, 0.4, 0.0),
    Case(8, 3, 1000, 1.0, 0.3),
    Case(12, 3, 100, 0.6, 0.2),
    Case(12, 2, 100, 0.2, 0.0),
    Case(5, 5, 50, 1.0, 0.5),
)
PARTS = len(CASES)


def rows(simulations: int, seed: int, part: int) -> list[Row]:
    """A third as many datasets as elsewhere: each has several models and judges."""
    case, number = CASES[part], max(1, simulations // 3)
    random, ranks, taus = np.random.default_rng([seed, part]), [], []
    for _ in range(number):
        true, correct, judge = case.draw(random)
        found = rank_bootstrap(correct, judge, repeats=REPEATS)
        mean = ranks_of(true).mean(1)
        ranks.append(np.mean((found.low <= mean + 1e-9) & (mean <= found.high + 1e-9)))
        for name, tau in proxy_taus(correct, judge, 0, repeats=REPEATS).items():
            truth = kendall_tau(true[:, int(str(name))], true[:, 0]).value
            taus.append(tau.images_low <= truth + 1e-9 and truth <= tau.images_high + 1e-9)
    return [
        Row("Rankings", f"mean ranks of {case}", PROMISE, float(np.mean(ranks)), 0.93, 1.0, number),
        Row("Rankings", f"τ over images of {case}", PROMISE, float(np.mean(taus)), 0.93, 1.0, number),
    ]
