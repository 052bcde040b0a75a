"""Segmentation: pixel accuracy and intersection over union, exact from counts of pixels (Long et al. 2015, section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.bootstrap import Statistic, bootstrap_interval, keep
from snellen.measure.estimate import Estimate


@dataclass(frozen=True)
class Segmentation(Estimate):
    """`value` is the mIoU: the mean over classes of `iou` = tp / (tp + fp + fn), those without a pixel left out.

    `pixel_accuracy` is the share of labelled pixels that are right, over all pixels. `iou` is float [classes], nan for a class
    without a pixel in truth and answers; `tp`, `fp` and `fn` are its counts of pixels, int64 [classes]. `n` counts
    images with a labelled pixel.
    """

    pixel_accuracy: Estimate
    miou: float
    iou: NDArray[np.float64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    fn: NDArray[np.int64]


def segmentation(confusion: ArrayLike, groups: ArrayLike | None = None, *, seed: int = 0) -> Segmentation:
    """Pixel accuracy, IoU per class and mIoU of counted pixels.

    `confusion` is [images, classes, classes] or, summed over the images, [classes, classes]: pixels by true class (row) and
    answered class (column); a further column counts answers that are none of the classes. Pixels without a label are not
    in it. Intervals are a bootstrap over images (or `groups` of them), nan for a sum: pixels of one image are not independent.
    """
    counts = np.asarray(confusion)
    if counts.ndim not in (2, 3) or counts.shape[-1] - counts.shape[-2] not in (0, 1) or (counts < 0).any():
        raise ValueError(f"expected counts [images, classes, classes] or [classes, classes], got {list(counts.shape)}")
    per_image = counts.reshape(-1, *counts.shape[-2:]).astype(np.int64)
    total = per_image.sum(0)
    classes = len(total)
    tp = np.diagonal(total).copy()
    fp, fn = total.sum(0)[:classes] - tp, total.sum(1) - tp
    columns = per_image.reshape(len(per_image), total.size).astype(np.float64)
    columns, groups = keep(columns, groups, columns.sum(1) > 0)

    def estimate(statistic: Statistic) -> tuple[float, float, float, int]:
        value = float(statistic(columns.sum(0, keepdims=True))[0]) if len(columns) else nan
        return value, *bootstrap_interval(columns, statistic, groups, seed=seed), len(columns)

    mean = estimate(_mean_iou(total.shape))
    iou = _iou(total[None].astype(np.float64))[0]
    return Segmentation(*mean, Estimate(*estimate(_accuracy(total.shape))), mean[0], iou, tp, fp, fn)


def _iou(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """[m, classes]: IoU per class of confusions [m, classes, columns]; nan where a class has no pixel."""
    classes = sums.shape[1]
    right = np.diagonal(sums, axis1=1, axis2=2)
    union = sums.sum(2) + sums.sum(1)[:, :classes] - right
    return np.divide(right, union, out=np.full(union.shape, nan), where=union > 0)


def _mean_iou(shape: tuple[int, ...]) -> Statistic:
    def statistic(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        iou = _iou(sums.reshape(-1, *shape))
        present = ~np.isnan(iou)
        return np.divide(np.nansum(iou, 1), present.sum(1), out=np.full(len(iou), nan), where=present.any(1))

    return statistic


def _accuracy(shape: tuple[int, ...]) -> Statistic:
    def statistic(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        confusions = sums.reshape(-1, *shape)
        return np.trace(confusions, axis1=1, axis2=2) / confusions.sum((1, 2))

    return statistic
