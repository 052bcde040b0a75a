"""Groups, of every measure that takes them: nine copies of each sample, grouped, tell no more than the samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from snellen.measure import (
    Estimate,
    accuracy,
    accuracy_by_level,
    accuracy_by_size,
    affinity,
    attack_success,
    background_categories,
    bg_gap,
    calibration_error,
    compare,
    energy_gain,
    hierarchical_accuracy,
    inter_model_auc,
    iocclusion,
    paired_difference,
    proxy_taus,
    rank_bootstrap,
    recipe_accuracy,
    segmentation,
    shape_bias,
    standard_error,
    tree_distances,
)
from snellen.measure.iocclusion_difference import Covered, iocclusion_gap, mean_iocclusion

COUNT, COPIES = 120, 9
RANDOM = np.random.default_rng(0)
RIGHT = (RANDOM.random((6, COUNT)) < np.linspace(0.5, 0.9, 6)[:, None]).astype(float)
RUNS = np.stack([RIGHT[2], RIGHT[2]])  # alike but for one image that each misses: it is the images that vary
RUNS[0, RIGHT[2].argmax()] = RUNS[1, COUNT - 1 - RIGHT[2][::-1].argmax()] = 0
SURE = RANDOM.random(COUNT)
NAMES = RANDOM.choice(["cat", "dog", "car"], (2, COUNT))
CLASSES = RANDOM.integers(0, 3, (3, COUNT))
PIXELS = RANDOM.integers(1, 20, (COUNT, 2, 2))
CURVES = RANDOM.random((COUNT, 3, 4))
TREE = {"cat": "animal", "dog": "animal", "animal": "root", "car": "root"}

Copy = Callable[[np.ndarray], np.ndarray]
Groups = np.ndarray | None


def _width(estimate: Estimate) -> float:
    return estimate.high - estimate.low


def _ranks(copy: Copy, groups: Groups) -> float:
    ranks = rank_bootstrap(copy(RIGHT), None, groups)
    return float(np.mean(ranks.high - ranks.low))


def _tau(copy: Copy, groups: Groups) -> float:
    tau = proxy_taus(copy(RIGHT), copy(NAMES[0]), "cat", groups)["dog"]
    return tau.images_high - tau.images_low


def _by_level(copy: Copy, groups: Groups) -> float:
    table = accuracy_by_level(copy(RIGHT[0]), copy(np.full(COUNT, "solid")), copy(CLASSES[0]), groups)["solid"]
    return _width(table.accuracy[1]) + _width(table.drops[1]) + _width(table.slopes[2]) + _width(table.slope)


def _covered(copy: Copy, groups: Groups) -> Covered:
    """All training images are right and two of three test images; four of five and half of them when covered."""
    train, test, train_covered, test_covered = (copy(one)[None] for one in (np.ones(COUNT), *RIGHT[[2, 4, 0]]))
    return Covered(train, test, [train_covered], [test_covered], (groups, groups))


def _iocclusion(copy: Copy, groups: Groups) -> float:
    one = _covered(copy, groups)
    return _width(iocclusion(one.train, one.test, one.train_occluded[0], one.test_occluded[0], one.groups))


def _gap(copy: Copy, groups: Groups) -> float:
    one = _covered(copy, groups)
    return _width(iocclusion_gap(one, replace(one, test_occluded=[copy(RIGHT[1])[None]]), shared=True))


WIDTHS: dict[str, Callable[[Copy, Groups], float]] = {
    "accuracy": lambda c, g: _width(accuracy(c(RIGHT[0]), g)),
    "accuracy_by_level": _by_level,
    "accuracy_by_size": lambda c, g: _width(accuracy_by_size(c(RIGHT[0]), c(SURE), (0, 0.5, 1), g)),
    "affinity": lambda c, g: _width(affinity(c(RIGHT[:2]), c(RIGHT[2:4]), g)),
    "attack_success": lambda c, g: _width(attack_success(c(CLASSES[:2]).T, c(CLASSES[2]), np.array([0, 1]), groups=g)),
    "background_categories": lambda c, g: _width(background_categories(*c(RIGHT[:3]), g)),
    "bg_gap": lambda c, g: _width(bg_gap(c(RIGHT[1]), c(RIGHT[0]), g)),
    "calibration_error": lambda c, g: _width(calibration_error(c(SURE), c(RIGHT[0]), 5, g)),
    "compare": lambda c, g: compare(c(RIGHT[0]), c(RIGHT[1]), g).error,
    "energy_gain": lambda c, g: _width(energy_gain((c(SURE), c(SURE + 2)), (c(RIGHT[0]), c(RIGHT[1])), g)),
    "hierarchical_accuracy": lambda c, g: _width(hierarchical_accuracy(c(NAMES[0]), c(NAMES[1]), TREE, 1, g)),
    "inter_model_auc": lambda c, g: _width(inter_model_auc(_rows(c, CURVES[:, 0]), _rows(c, CURVES[:, 1:]), g)),
    "iocclusion": _iocclusion,
    "iocclusion_gap": _gap,
    "mean_iocclusion": lambda c, g: _width(mean_iocclusion(_covered(c, g))),
    "paired_difference": lambda c, g: _width(paired_difference(c(RIGHT[0]), c(RIGHT[1]), g)),
    "proxy_taus": _tau,
    "rank_bootstrap": _ranks,
    "recipe_accuracy": lambda c, g: _width(recipe_accuracy(c(RUNS), g)),
    "segmentation": lambda c, g: _width(segmentation(_rows(c, PIXELS), g)),
    "segmentation, pixels": lambda c, g: _width(segmentation(_rows(c, PIXELS), g).pixel_accuracy),
    "shape_bias": lambda c, g: _width(shape_bias(c(CLASSES[0]), c(CLASSES[1]), c(CLASSES[2]), g)),
    "standard_error": lambda c, g: standard_error(c(RIGHT[0]), g),
    "tree_distances": lambda c, g: _width(tree_distances(c(NAMES[0]), c(NAMES[1]), TREE, g)),
}


def _rows(copy: Copy, values: np.ndarray) -> np.ndarray:
    """Copies of samples that come first in an array."""
    return np.moveaxis(copy(np.moveaxis(values, 0, -1)), -1, 0)


def _copied(values: np.ndarray) -> np.ndarray:
    return np.tile(values, COPIES)


@pytest.mark.parametrize("measure", WIDTHS)
def test_copies_in_groups_tell_no_more_than_the_samples(measure: str) -> None:
    width = WIDTHS[measure]
    alone = width(lambda values: values, None)
    grouped = width(_copied, np.tile(np.arange(COUNT), COPIES))
    blind = width(_copied, None)
    assert grouped == pytest.approx(alone, rel=0.1)
    assert blind < 0.6 * alone
