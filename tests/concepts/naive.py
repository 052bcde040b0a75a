"""Network dissection the slow way, in NumPy, for small arrays: all values at once, one unit and one concept after the other."""

from __future__ import annotations

import numpy as np


def enlarged(features: np.ndarray, size: int) -> np.ndarray:
    """Features [n, units, h, w] brought bilinearly to [n, units, size, size], with zeros around them."""
    count, units, height, width = features.shape
    padded = np.zeros((count, units, height + 2, width + 2))
    padded[:, :, 1:-1, 1:-1] = features
    large = np.zeros((count, units, size, size))
    for row in range(size):
        for column in range(size):
            y, x = (row + 0.5) * height / size + 0.5, (column + 0.5) * width / size + 0.5
            top, left = int(np.floor(y)), int(np.floor(x))
            for dy, dx in ((0, 0), (0, 1), (1, 0), (1, 1)):
                weight = (1 - abs(y - top - dy)) * (1 - abs(x - left - dx))
                if weight > 0:
                    large[:, :, row, column] += weight * padded[:, :, top + dy, left + dx]
    return large


def thresholds(values: np.ndarray, quantile: float) -> np.ndarray:
    """Of each unit of values [n, units, H, W] the quantile over all images and pixels."""
    return np.array([np.quantile(values[:, unit], quantile, method="lower") for unit in range(values.shape[1])])


def overlaps(values: np.ndarray, limits: np.ndarray, labels: np.ndarray, concepts: int) -> np.ndarray:
    """IoU [units, concepts] of values [n, units, H, W] above their limits with labels [n, maps, H, W]; nan without pixels."""
    iou = np.full((values.shape[1], concepts), np.nan)
    for unit in range(values.shape[1]):
        mask = values[:, unit] > limits[unit]
        for concept in range(concepts):
            truth = (labels == concept + 1).any(1)
            either = (mask | truth).sum()
            if either:
                iou[unit, concept] = (mask & truth).sum() / either
    return iou
