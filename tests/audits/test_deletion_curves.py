"""Deletion curves read from tables given by hand: what is stated of their error, of one run and of several."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.audits.deletion_curves import DeletionCurves, read_curves
from snellen.audits.faithfulness import _words
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


def random_orders(seed: int, images: int, repeats: int, runs: int = 1) -> DeletionCurves:
    """Random orders of curves that differ from image to image and, less, from order to order; all runs have the same."""
    images_own = np.random.default_rng(7).normal(0, 0.2, (images, 1, 1))
    orders = np.random.default_rng(seed).normal(0, 0.1, (images, repeats, 1))
    curves = np.linspace(1, 0, POINTS) + images_own + orders
    ordered, ends = np.ones((runs, images, POINTS)), np.ones(runs)
    return DeletionCurves(np.arange(images), ordered, np.stack([curves] * runs), ends, ends, (0, 0), (0, 0), 0.0)


@pytest.mark.parametrize(("images", "repeats", "runs"), [(3, 2, 1), (10, 5, 1), (10, 5, 3), (60, 2, 2)])
def test_other_random_orders_move_the_area_by_what_is_stated(images: int, repeats: int, runs: int) -> None:
    """Of the areas of 400 seeds 90% are as near the mean of all as each states; runs that are alike say no more than one."""
    some = [random_orders(seed, images, repeats, runs) for seed in range(400)]
    areas = np.array([curves.areas.mean() for curves in some])
    within = np.mean([abs(area - areas.mean()) <= curves.order_error for area, curves in zip(areas, some)])
    assert 0.86 <= within <= 0.94
    assert np.mean([curves.order_error for curves in some]) == pytest.approx(1.645 * areas.std(), rel=0.4)


def test_of_a_single_random_order_nothing_is_known() -> None:
    assert np.isnan(random_orders(0, 10, 1).order_error)
    assert np.isnan(random_orders(0, 0, 5).order_error)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("inter_model_deletion", "deletion with the least relevant tiles first"),
        ("inter_model_insertion", "insertion with the most relevant tiles first"),
        ("morf_deletion", "deletion with the most relevant tiles first"),
        ("lerf_insertion", "insertion with the least relevant tiles first"),
    ],
)
def test_the_words_of_a_curve_say_which_tiles_come_first(name: str, words: str) -> None:
    """What is deleted last is inserted first."""
    assert _words(name) == words
