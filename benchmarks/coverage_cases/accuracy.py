"""The accuracy of one run, and of five: of these runs on other images, and of the recipe."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtri

from coverage_cases.row import Row
from snellen.measure import accuracy, recipe_accuracy

SUBJECT = "Accuracy"
HARDNESS = 2.0  # how far images differ, in log odds


def rows(simulations: int, seed: int) -> list[Row]:
    """One run of 30 to 10,000 images; five runs whose skill differs by 0, 0.05, 0.15 and 0.4 in log odds."""
    one = [_one_run(simulations, seed, images, share) for images, share in ((30, 0.9), (1000, 0.7), (10_000, 0.95))]
    several = [row for spread in (0.0, 0.05, 0.15, 0.4) for row in _five_runs(simulations, seed, spread)]
    return [*one, *several]


def _one_run(simulations: int, seed: int, images: int, share: float) -> Row:
    random = np.random.default_rng([seed, images])
    hits = 0
    for right in random.binomial(images, share, simulations):
        found = accuracy(np.arange(images) < right)
        hits += found.low <= share <= found.high
    case = f"one run, {images:,} images, accuracy {share:g}"
    return Row(
        SUBJECT, case, "the interval holds the truth 95% of the time", hits / simulations, 0.93, 1.0, simulations
    )


def _five_runs(simulations: int, seed: int, spread: float) -> list[Row]:
    """Images of differing hardness, 1,000 of them; the truth of these runs is their mean skill, of the recipe that of all."""
    random = np.random.default_rng([seed, int(100 * spread)])
    grid = ndtri((np.arange(2000) + 0.5) / 2000)  # the normal law, evenly
    skills = 1.2 + np.linspace(-2.5, 2.5, 201)
    truths = expit(skills[:, None] + HARDNESS * grid).mean(axis=1)
    of_recipe = np.interp(1.2 + spread * grid, skills, truths)
    recipe, deviation = float(of_recipe.mean()), float(of_recipe.std())
    these = whole = 0
    for _ in range(simulations):
        skill = 1.2 + spread * random.normal(size=5)
        chance = expit(skill[:, None] + HARDNESS * random.normal(size=1000))
        right = (random.random(chance.shape) < chance).astype(float)
        truth = float(np.interp(skill, skills, truths).mean())
        first, second = accuracy(right), recipe_accuracy(right)
        these += first.low <= truth <= first.high
        whole += second.low <= recipe <= second.high
    case = f"five runs, 1,000 images, runs differ by {100 * deviation:.1f} points"
    return [
        Row(
            SUBJECT, case, "the interval holds the accuracy of these runs", these / simulations, 0.93, 1.0, simulations
        ),
        Row(
            SUBJECT, case, "that of the recipe holds the recipe's accuracy", whole / simulations, 0.93, 1.0, simulations
        ),
    ]
