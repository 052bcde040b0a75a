"""Clean answers that cannot be as the model means them: accuracy that is too low to be its own, or no probabilities."""

from __future__ import annotations

import numpy as np

from snellen.checks.doubt import CleanAnswers, Doubt
from snellen.measure import accuracy

FAR = 0.10  # below the stated accuracy, as a share
NO_PROBABILITIES = "probabilities"  # the name of that doubt
SLACK = 0.01  # what half precision and rounded answers may be off by


def chance_level(clean: CleanAnswers) -> Doubt | None:
    """Accuracy whose 95% interval reaches down to 1 / classes, or to always naming the class that most images have."""
    estimate, classes = accuracy(clean.correct, clean.groups), len(clean.classes)
    if not estimate.n or classes < 2:
        return None
    frequent = int(np.bincount(clean.labels).argmax())
    guessing, constant = clean.chance or 1 / classes, float((clean.labels == frequent).mean())
    if estimate.low > max(guessing, constant):
        return None
    below = f"the {100 * guessing:.1f}% of guessing among {classes} classes"
    if clean.chance is not None:
        below = f"the {100 * guessing:.1f}% of guessing among its options"
    if estimate.low > guessing:
        below = f"the {100 * constant:.1f}% of always answering '{clean.classes[frequent]}'"
    first = int(clean.pred[0])
    same = f"; it answers '{clean.classes[first]}' to every image" if first >= 0 and (clean.pred == first).all() else ""
    return Doubt(
        "chance_level",
        f"{clean.who} is right on {100 * estimate.value:.1f}% of {estimate.n:,} unmodified images, not clearly above "
        f"{below}{same}",
        "check weights, preprocessing and class order, or show more images; drops from guessing mean nothing",
        clean.model,
    )


def below_stated(clean: CleanAnswers) -> Doubt | None:
    """Accuracy that is clearly, and by more than ten points, below what the model's card states."""
    estimate = accuracy(clean.correct, clean.groups)
    if clean.stated is None or not estimate.n or estimate.high >= clean.stated or estimate.value > clean.stated - FAR:
        return None
    return Doubt(
        "below_stated",
        f"{clean.who} is right on {100 * estimate.value:.1f}% of the unmodified images, its card states "
        f"{100 * clean.stated:.1f}%",
        "check weights, preprocessing and label map; if these images are of another kind than the stated ones, state it "
        "beside the numbers",
        clean.model,
    )


def not_probabilities(model: str, answers: np.ndarray) -> Doubt | None:
    """The notice about answers [images, classes] that lie outside 0 to 1, or do not sum to 1: a callable that returns logits
    is read all the same, but not as it is meant."""
    sums = answers.sum(1)
    if (answers >= -SLACK).all() and (abs(sums - 1) <= SLACK).all():
        return None
    low, high = float(answers.min()), float(answers.max())
    return Doubt(
        NO_PROBABILITIES,
        f"the answers of '{model}' are no probabilities: they lie between {low:.3g} and {high:.3g} and sum to "
        f"{float(sums.min()):.3g} … {float(sums.max()):.3g}, not to 1; its confidences mean little",
        "if they are logits, apply a softmax, or wrap the network by snellen.models.from_torch",
        model,
    )
