"""Shape or texture: which of two cues in conflict a model follows (Geirhos et al. 2019; Marcu & Prügel-Bennett 2022, 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.accuracies import accuracy
from snellen.measure.estimate import Estimate, as_runs


@dataclass(frozen=True)
class ShapeBias(Estimate):
    """`value` is the `shape_bias`: of the answers to conflicts that name the shape or the texture, the share of shapes.

    `shape_accuracy` and `texture_accuracy` are shares of all images, agreeing ones included (as in Marcu & Prügel-Bennett 2022).
    `conflicts` counts the images whose cues differ, `decided` the answers to them that name either cue (over all runs);
    `n` is the number of conflicts.
    """

    shape_accuracy: float
    texture_accuracy: float
    shape_bias: float
    conflicts: int
    decided: int


def shape_bias(pred: ArrayLike, shape: ArrayLike, texture: ArrayLike, groups: ArrayLike | None = None) -> ShapeBias:
    """Shape accuracy, texture accuracy and shape bias of answers to images with two cues.

    `pred` is [samples] or [runs, samples] of classes (numbers or names), `shape` and `texture` [samples] of the same
    kind. The interval is that of `accuracy` over the conflicts that some run decided. No conflict that is decided gives a bias of
    nan.

    >>> from snellen.measure import shape_bias
    >>> shape_bias(pred=["cat", "cat", "car"], shape=["cat", "cat", "dog"], texture=["dog", "car", "car"]).shape_bias
    0.6666666666666666
    """
    answers = as_runs(pred)
    shapes, textures = np.asarray(shape), np.asarray(texture)
    if not shapes.shape == textures.shape == answers.shape[1:]:
        raise ValueError(f"expected one shape and one texture per sample, got {shapes.shape} and {textures.shape}")
    right_shape, right_texture = answers == shapes, answers == textures
    conflict = shapes != textures
    decided = conflict & (right_shape | right_texture)
    share = accuracy(np.where(decided, right_shape, nan), groups)
    seen, conflicts = answers.size > 0, int(conflict.sum())
    return ShapeBias(
        value=share.value,
        low=share.low,
        high=share.high,
        n=conflicts,
        shape_accuracy=float(right_shape.mean()) if seen else nan,
        texture_accuracy=float(right_texture.mean()) if seen else nan,
        shape_bias=share.value,
        conflicts=conflicts,
        decided=int(decided.sum()),
    )
