"""What counts of pixels tell beyond the score of each image: IoU per class, mIoU and accuracy over all pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from snellen.engine.keep.read_back import Block
from snellen.measure import segmentation_of_counts

PIXEL_FACTS = ("miou", "pixel_accuracy")


def pixel_facts(block: Block, classes: Sequence[str]) -> dict[str, Any]:
    """Facts of a segmentation model's answers, exact and over all images, each the mean of its runs; none of other models.

    `miou` and, of one run, its 95% interval; `pixel_accuracy` over all labelled pixels (an image with few of them counts less)
    and `iou` by class (nan for one without a pixel).
    """
    if block.counts is None:
        return {}
    runs = [segmentation_of_counts(counts) for counts in block.counts]
    values = np.array([[one.miou, one.pixel_accuracy.value, *one.iou] for one in runs]).reshape(len(runs), -1)
    miou, accuracy, *iou = values.mean(0).tolist()
    interval = [runs[0].low, runs[0].high] if len(runs) == 1 else None
    return {"miou": miou, "miou_interval": interval, "pixel_accuracy": accuracy, "iou": dict(zip(classes, iou))}
