"""Regions as callers hold them, from damaged arrays, through every measure of maps: the number that is true, or one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .calls import Failed, Refused

SHAPE = (3, 12, 12)
MAPS = np.random.default_rng(0).random(SHAPE) + 0.1


def measured(name: str) -> Callable[[Path], object]:
    """Measures maps against the array of a file as an array, a tensor and a list; all must come to the same."""

    def read(folder: Path) -> object:
        from snellen.files.npz import read_npy

        path = folder / name
        array = read_npy(path)
        values = [_measure(form, path) for form in _forms(array)]
        if not all(np.allclose(other, values[0], equal_nan=True) for other in values):
            raise Failed(f"{path}: one region, held in several ways, has several values: {values}")
        if array.shape == SHAPE:
            mask = array != 0
            inside = np.where(mask.any((1, 2)), (MAPS * mask).sum((1, 2)) / MAPS.sum((1, 2)), np.nan)
            if not np.allclose(values[0][0], inside, equal_nan=True):
                raise Failed(f"{path}: a mask is not measured as one: {values[0][0]}, true is {inside}")
        return values

    return read


def _forms(array: np.ndarray) -> list[Any]:
    import torch

    forms: list[Any] = [array, list(array) if array.ndim else array]
    try:
        return [*forms, torch.from_numpy(array)]
    except (TypeError, ValueError):  # numbers that torch does not have
        return forms


def _measure(regions: Any, path: Path) -> np.ndarray:
    """[measures, images], float."""
    from snellen import measure

    ways = (measure.energy_pointing_game, measure.effective_heat_ratio, measure.pointing_game, measure.wsol_iou)
    try:
        return np.stack([way(MAPS, regions) for way in ways])
    except ValueError as error:
        raise Refused(f"{path}: {error}") from None
