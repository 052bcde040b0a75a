"""Wrong answers by the class that was predicted: the ground that interference and its direction stand on."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.estimate import as_runs

Normaliser = Literal["errors", "samples"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WrongAnswers:
    """The answers of one condition by where they fall: `bin` [runs, samples].

    A run has K + 1 bins of errors, the predicted classes and at the end "outside the dataset"; K + 1 itself is a right answer.
    `groups` [samples] numbers those, such as videos, whose images may be answered alike; None where each stands for itself.
    """

    bin: NDArray[Any]
    num_classes: int
    normaliser: Normaliser
    groups: NDArray[np.int64] | None = None

    @property
    def runs(self) -> int:
        return len(self.bin)

    @property
    def samples(self) -> int:
        return self.bin.shape[1]

    @property
    def bins(self) -> int:
        """Of the errors of all runs."""
        return self.runs * (self.num_classes + 1)

    @functools.cached_property
    def histogram(self) -> NDArray[np.int64]:
        """The number of errors, [runs, K + 1]."""
        return np.stack([np.bincount(row, minlength=self.num_classes + 2)[:-1] for row in self.bin])

    def shares(self, histogram: NDArray[Any]) -> Floats:
        """The share of all errors, or of the samples, in each class: from [..., runs, K + 1] to [..., runs, K]."""
        if self.normaliser == "samples":
            return histogram[..., :-1] / self.samples
        errors = histogram.sum(axis=-1, keepdims=True)
        return histogram[..., :-1] / np.maximum(errors, 1)  # no errors: share 0 in every class

    def columns(self) -> Any:
        """What each sample adds to the histogram, a sparse matrix [samples, runs · (K + 1)]."""
        from scipy import sparse

        run, sample = np.nonzero(self.bin <= self.num_classes)
        place = run * (self.num_classes + 1) + self.bin[run, sample]
        return sparse.csc_array((np.ones(len(run), np.float32), (sample, place)), shape=(self.samples, self.bins))


def conditions(
    clean: ArrayLike,
    distorted: ArrayLike,
    labels: ArrayLike,
    num_classes: int,
    distorted_labels: ArrayLike | None,
    normaliser: Normaliser,
    groups: ArrayLike | None = None,
) -> tuple[WrongAnswers, WrongAnswers]:
    """The errors on clean and on distorted data, once the arguments are known to fit together; `groups` of paired samples."""
    check_choice("normaliser", normaliser, Normaliser)
    clean, distorted = as_runs(clean), as_runs(distorted)
    if distorted_labels is None and clean.shape != distorted.shape:
        raise ValueError(f"expected clean and distorted of the same shape, got {clean.shape} and {distorted.shape}")
    if len(clean) != len(distorted) or not len(clean):
        raise ValueError(f"expected as many clean as distorted runs, got {len(clean)} and {len(distorted)}")
    if groups is not None and (distorted_labels is not None or np.shape(groups) != clean.shape[1:]):
        raise ValueError(
            f"expected one group per pair of samples, got {list(np.shape(groups))} for {clean.shape[1]} samples"
        )
    other_labels = labels if distorted_labels is None else distorted_labels
    return (
        wrong_answers(clean, labels, num_classes, normaliser, groups),
        wrong_answers(distorted, other_labels, num_classes, normaliser, groups),
    )


def wrong_answers(
    pred: ArrayLike, labels: ArrayLike, num_classes: int, normaliser: Normaliser, groups: ArrayLike | None = None
) -> WrongAnswers:
    """The errors of answers [runs, samples] or [samples], in groups [samples] where they have any."""
    pred, labels = as_runs(pred), np.asarray(labels)
    if labels.shape != pred.shape[1:]:
        raise ValueError(f"expected one label per sample, got {labels.shape} for {pred.shape[1]} samples")
    _check_classes("predictions", pred, -1, num_classes)
    _check_classes("labels", labels, 0, num_classes)
    right = num_classes + 1
    named = np.where(pred < 0, num_classes, pred) if pred.min(initial=0) < 0 else pred
    small = np.min_scalar_type(right)  # bytes where there are few classes: they are read often
    member = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    return WrongAnswers(np.where(pred == labels, right, named).astype(small), num_classes, normaliser, member)


def _check_classes(what: str, classes: NDArray[Any], lowest: int, num_classes: int) -> None:
    if not classes.size:
        return
    if not np.issubdtype(classes.dtype, np.integer):
        raise ValueError(f"expected {what} as whole numbers, got {classes.dtype}")
    if classes.min() < lowest or classes.max() >= num_classes:
        outside = classes[(classes < lowest) | (classes >= num_classes)]
        raise ValueError(f"expected {what} in {lowest}..{num_classes - 1}, got {outside[0]}")


def check_choice(name: str, value: str, choices: Any) -> None:
    if value not in get_args(choices):
        raise ValueError(f"unknown {name} '{value}'; known: {', '.join(get_args(choices))}")
