"""Deletion curves read from tables given by hand: what is stated of their error, of one run and of several."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.audits.deletion_curves import DeletionCurves, read_curves
from snellen.engine.keep.read_back import TrialTable
from snellen.search.deletion import OrderedDeletion, RandomDeletion
from snellen.search.step_sampling import roughness, sampling_error, systematic

POINTS, IMAGES, WHOLE, COUNT = 100, 40, 5, 10
INNER = POINTS - 2


def walks(seed: int) -> np.ndarray:
    """Rough curves [IMAGES, POINTS] from 1 to 0."""
    walk = np.cumsum(np.random.default_rng(seed).normal(0, 0.1, (IMAGES, POINTS)), 1)
    line = np.linspace(1, 0, POINTS)
    return line + walk - walk[:, :1] - (walk[:, -1:] - walk[:, :1]) * (1 - line)


def table(curves: np.ndarray, starts: np.ndarray) -> TrialTable:
    """The first images with all points, the others with COUNT of them from their starts on."""
    rows = []
    for number, (curve, start) in enumerate(zip(curves, starts)):
        point = systematic(INNER, INNER if number < WHOLE else COUNT, start)
        rows.append(
            {
                "error": "", "asked": 2 + len(point), "tiles": 400, "first": curve[0], "last": curve[-1],
                "order": np.zeros(len(point), int), "point": point, "score": curve[point],
            }
        )  # fmt: skip
    return TrialTable(rows, {})


def read(runs: list[np.ndarray]) -> DeletionCurves:
    """Runs whose ordered curves are these; random orders are straight lines, which cannot be sampled wrongly. Where an image is
    looked at is drawn for the image, so that it is the same for all runs."""
    starts = np.random.default_rng(0).random(IMAGES)
    line = np.tile(np.linspace(1, 0, POINTS), (IMAGES, 1))
    by_map, by_chance = OrderedDeletion(points=POINTS), RandomDeletion(points=POINTS, repeats=1)
    ordered, random = ([table(one, starts) for one in some] for some in (runs, [line] * len(runs)))
    return read_curves((by_map, ordered), (by_chance, random))


def test_the_error_of_one_run_is_that_of_its_sampled_curves() -> None:
    curves = walks(0)
    counts = np.array([[INNER]] * WHOLE + [[COUNT]] * (IMAGES - WHOLE))
    by_hand = sampling_error(counts, [roughness(one) for one in curves[:WHOLE]], INNER)
    assert read([curves]).error == pytest.approx(100 * by_hand)


def test_runs_that_are_alike_err_together() -> None:
    """Four copies of a run are looked at in the same places, so they say no more than one; of different runs the error is at
    most the mean of theirs."""
    curves, other = walks(0), walks(1)
    one, two = read([curves]).error, read([other]).error
    assert one > 0
    assert abs(one - two) > 0.01
    assert read([curves] * 4).error == pytest.approx(one)
    assert read([curves, other]).error == pytest.approx((one + two) / 2)
