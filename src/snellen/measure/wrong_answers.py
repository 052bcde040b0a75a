"""Wrong answers by the class that was predicted: the ground that interference and its direction stand on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.estimate import as_runs

Normaliser = Literal["errors", "samples"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WrongAnswers:
    """The wrong answers of one condition: error i was made on `sample[i]` and falls into `bin[i]`.

    A run has K + 1 bins, the predicted classes and at the end "outside the dataset"; the runs' bins follow each other.
    """

    sample: NDArray[np.int64]
    bin: NDArray[np.int64]
    runs: int
    samples: int
    bins: int
    normaliser: Normaliser

    def histogram(self) -> NDArray[np.int64]:
        """The number of errors, [runs, K + 1]."""
        return np.bincount(self.bin, minlength=self.bins).reshape(self.runs, -1)

    def shares(self, histogram: NDArray[Any]) -> Floats:
        """The share of all errors, or of the samples, in each class: from [..., runs, K + 1] to [..., runs, K]."""
        if self.normaliser == "samples":
            return histogram[..., :-1] / self.samples
        errors = histogram.sum(axis=-1, keepdims=True)
        return histogram[..., :-1] / np.maximum(errors, 1)  # no errors: share 0 in every class

    def columns(self) -> Any:
        """What each sample adds to the histogram, a sparse matrix [samples, runs · (K + 1)]."""
        from scipy import sparse

        ones = np.ones(len(self.bin), np.float32)
        return sparse.csc_array((ones, (self.sample, self.bin)), shape=(self.samples, self.bins))


def conditions(
    clean: ArrayLike,
    distorted: ArrayLike,
    labels: ArrayLike,
    num_classes: int,
    distorted_labels: ArrayLike | None,
    normaliser: Normaliser,
) -> tuple[WrongAnswers, WrongAnswers]:
    """The errors on clean and on distorted data, once the arguments are known to fit together."""
    check_choice("normaliser", normaliser, Normaliser)
    clean, distorted = as_runs(clean), as_runs(distorted)
    if distorted_labels is None and clean.shape != distorted.shape:
        raise ValueError(f"expected clean and distorted of the same shape, got {clean.shape} and {distorted.shape}")
    if len(clean) != len(distorted) or not len(clean):
        raise ValueError(f"expected as many clean as distorted runs, got {len(clean)} and {len(distorted)}")
    other = labels if distorted_labels is None else distorted_labels
    return _wrong_answers(clean, labels, num_classes, normaliser), _wrong_answers(
        distorted, other, num_classes, normaliser
    )


def _wrong_answers(pred: NDArray[Any], labels: ArrayLike, num_classes: int, normaliser: Normaliser) -> WrongAnswers:
    labels = np.asarray(labels)
    if labels.shape != pred.shape[1:]:
        raise ValueError(f"expected one label per sample, got {labels.shape} for {pred.shape[1]} samples")
    _check_classes("predictions", pred, -1, num_classes)
    _check_classes("labels", labels, 0, num_classes)
    bins = num_classes + 1
    run, sample = np.nonzero(pred != labels)
    named = pred[run, sample].astype(np.int64) % bins  # −1 goes to the last bin
    runs, samples = pred.shape
    return WrongAnswers(sample, run * bins + named, runs, samples, runs * bins, normaliser)


def _check_classes(what: str, classes: NDArray[Any], lowest: int, num_classes: int) -> None:
    if not classes.size:
        return
    if not np.issubdtype(classes.dtype, np.integer):
        raise ValueError(f"expected {what} as whole numbers, got {classes.dtype}")
    outside = classes[(classes < lowest) | (classes >= num_classes)]
    if outside.size:
        raise ValueError(f"expected {what} in {lowest}..{num_classes - 1}, got {outside[0]}")


def check_choice(name: str, value: str, choices: Any) -> None:
    if value not in get_args(choices):
        raise ValueError(f"unknown {name} '{value}'; known: {', '.join(get_args(choices))}")
