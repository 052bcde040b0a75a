"""The observer of shape: moments of the main object's mask, nearest to those of the classes themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from snellen.data.phantom.shapes import silhouettes
from snellen.models.observers.evidence import guess_class, main_object
from snellen.notation import text_form

FOLDS = (2, 3, 4, 5, 6, 8)  # turns of 1/fold of a circle under which some class looks the same


@dataclass(frozen=True)
class ShapeObserver:
    """Sees only the mask of the main object: the class whose own moments are nearest, whatever its place, size or turn."""

    __str__ = text_form

    def answer(self, images: np.ndarray) -> np.ndarray:
        return shapes_of(main_object(images), guess_class(images))

    def support(self, images: np.ndarray) -> np.ndarray:
        return main_object(images)


def shapes_of(masks: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """The class of each mask bool [B, H, W], int64 [B]: a function of the mask alone, `otherwise` where it is empty."""
    own, scale = templates()
    distance = np.square((moments(masks)[:, None] - own) / scale).sum(axis=2)
    return np.where(masks.any(axis=(1, 2)), distance.argmin(axis=1), otherwise)


def moments(masks: np.ndarray) -> np.ndarray:
    """Numbers float64 [B, features] that shifting, scaling and turning a mask leave as they are; 0 where it is empty.

    With z = x + iy about the centroid: |Σ z^k| / Σ |z|^k for each fold k, which is large for a shape of k-fold symmetry
    (complex moments, Flusser 2000), then Σ |z|² / n² and Σ |z|⁴ / n³, which tell how far from the centre it spreads.
    """
    image, row, column = np.nonzero(masks)
    count = np.maximum(np.bincount(image, minlength=len(masks)), 1)

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(image, values, len(masks))

    centred = (column - (total(column) / count)[image]) + 1j * (row - (total(row) / count)[image])
    radius = np.abs(centred)
    features = []
    for fold in FOLDS:
        power = centred**fold
        features.append(np.hypot(total(power.real), total(power.imag)) / np.maximum(total(radius**fold), 1e-9))
    # A pixel is no point: it adds its own spread of 1/6, which matters for small masks.
    features += [(total(radius**2) + count / 6) / count**2, total(radius**4) / count**3]
    return np.stack(features, axis=1)


@lru_cache(maxsize=1)
def templates() -> tuple[np.ndarray, np.ndarray]:
    """The moments of each class's silhouette, [classes, features], and their spread over the classes, [features]."""
    outlines = silhouettes(0) != 0
    own = moments(outlines[:, ::4, ::4])
    return own, own.std(axis=0)
