"""What an accuracy tells beyond its value: what its interval is about, and of segmentation models what counts of pixels tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.engine.keep.read_back import AnswerBlock
from snellen.measure import recipe_accuracy, segmentation_of_counts


class RunFacts(FindingFacts, frozen=True, kw_only=True):
    """Facts of an accuracy of several runs; not set for a single run.

    `interval_of` says in words what the finding's interval covers; `recipe_low` and `recipe_high` bound the accuracy of the
    recipe, were it run again and shown other images.
    """

    beside: ClassVar[bool] = True
    interval_of: str | UnsetType = UNSET
    recipe_low: Number | UnsetType = UNSET
    recipe_high: Number | UnsetType = UNSET


class PixelFacts(RunFacts, frozen=True, kw_only=True):
    """Facts of a segmentation model's answers, exact and over all images, each the mean of its runs; not set for others.

    `miou` and, of one run, its 95% interval; `pixel_accuracy` over all labelled pixels (an image with few of them counts less)
    and `iou` by class (nan for one without a pixel).
    """

    miou: Number | UnsetType = UNSET
    miou_interval: tuple[Number, Number] | UnsetType | None = UNSET
    pixel_accuracy: Number | UnsetType = UNSET
    iou: dict[str, Number] | UnsetType = UNSET


RUN_FACTS = RunFacts.__struct_fields__
PIXEL_FACTS = ("miou", "pixel_accuracy")


def run_facts(scores: np.ndarray, groups: ArrayLike | None) -> dict[str, Any]:
    """The fields of `RunFacts` of scores [runs, samples]; none of a single run."""
    if len(scores) < 2:
        return {}
    recipe = recipe_accuracy(scores, groups)
    return {"interval_of": f"these {len(scores)} runs", "recipe_low": recipe.low, "recipe_high": recipe.high}


def pixel_facts(block: AnswerBlock, classes: Sequence[str]) -> dict[str, Any]:
    """The fields of `PixelFacts` that counts of pixels tell; none of models that are no segmenters."""
    if block.counts is None:
        return {}
    runs = [segmentation_of_counts(counts) for counts in block.counts]
    values = np.array([[run.miou, run.pixel_accuracy.value, *run.iou] for run in runs]).reshape(len(runs), -1)
    miou, accuracy, *iou = values.mean(0).tolist()
    interval = [runs[0].low, runs[0].high] if len(runs) == 1 else None
    return {"miou": miou, "miou_interval": interval, "pixel_accuracy": accuracy, "iou": dict(zip(classes, iou))}
