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

    >>> from snellen.measure import segmentation
    >>> found = segmentation([[3, 1], [0, 4]])  # one pixel of class 0 is taken for class 1
    >>> round(found.value, 3), found.pixel_accuracy.value
    (0.775, 0.875)
    """
    counts = np.asarray(confusion)
    if counts.ndim not in (2, 3) or counts.shape[-1] - counts.shape[-2] not in (0, 1) or (counts < 0).any():
        raise ValueError(f"expected counts [images, classes, classes] or [classes, classes], got {list(counts.shape)}")
    per_image = counts.reshape(-1, *counts.shape[-2:]).astype(np.int64)
    tp = np.diagonal(per_image, axis1=1, axis2=2)
    fp, fn = per_image.sum(1)[:, : per_image.shape[1]] - tp, per_image.sum(2) - tp
    return segmentation_of_counts(np.stack([tp, fp, fn], 2), groups, seed=seed)


def segmentation_of_counts(counts: ArrayLike, groups: ArrayLike | None = None, *, seed: int = 0) -> Segmentation:
    """The same of `counts` [images, classes, 3]: true positives, false positives and false negatives of each class, which is
    all of a confusion that pixel accuracy and IoU need.

    >>> from snellen.measure import segmentation_of_counts
    >>> counts = [[[3, 0, 1], [4, 1, 0]]]  # one image: true positives, false positives, false negatives
    >>> round(segmentation_of_counts(counts).value, 3)
    0.775
    """
    per_image = np.asarray(counts)
    if per_image.ndim != 3 or per_image.shape[2] != 3 or (per_image < 0).any():
        raise ValueError(f"expected counts [images, classes, 3], got {list(per_image.shape)}")
    total = per_image.sum(0, dtype=np.int64)
    columns = per_image.reshape(len(per_image), total.size).astype(np.float64)
    columns, groups = keep(columns, groups, per_image[:, :, [0, 2]].sum((1, 2)) > 0)

    def estimate(statistic: Statistic) -> tuple[float, float, float, int]:
        value = float(statistic(columns.sum(0, keepdims=True))[0]) if len(columns) else nan
        return value, *bootstrap_interval(columns, statistic, groups, seed=seed, bounds=(0, 1)), len(columns)

    mean, iou = estimate(_mean_iou), _iou(total[None].astype(np.float64))[0]
    return Segmentation(*mean, Estimate(*estimate(_accuracy)), mean[0], iou, *(column.copy() for column in total.T))


def _iou(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """[m, classes]: IoU per class of counts [m, classes, 3]; nan where a class has no pixel."""
    union = sums.sum(2)
    return np.divide(sums[:, :, 0], union, out=np.full(union.shape, nan), where=union > 0)


def _mean_iou(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    iou = _iou(sums.reshape(len(sums), -1, 3))
    present = ~np.isnan(iou)
    return np.divide(np.nansum(iou, 1), present.sum(1), out=np.full(len(iou), nan), where=present.any(1))


def _accuracy(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    right, _, lost = np.moveaxis(sums.reshape(len(sums), -1, 3).sum(1), 1, 0)
    return right / (right + lost)
