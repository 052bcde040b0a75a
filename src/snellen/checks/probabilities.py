"""Answers that are no probabilities: a callable that returns logits is read all the same, but not as it is meant."""

from __future__ import annotations

import numpy as np

from snellen.checks.doubt import Doubt

NAME = "probabilities"
SLACK = 0.01  # what half precision and rounded answers may be off by


def not_probabilities(model: str, answers: np.ndarray) -> Doubt | None:
    """The notice about answers [images, classes] that lie outside 0 to 1, or do not sum to 1."""
    sums = answers.sum(1)
    if (answers >= -SLACK).all() and (abs(sums - 1) <= SLACK).all():
        return None
    low, high = float(answers.min()), float(answers.max())
    return Doubt(
        NAME,
        f"the answers of '{model}' are no probabilities: they lie between {low:.3g} and {high:.3g} and sum to "
        f"{float(sums.min()):.3g} … {float(sums.max()):.3g}, not to 1; its confidences mean little",
        "if they are logits, apply a softmax, or wrap the network by snellen.models.from_torch",
        model,
    )
