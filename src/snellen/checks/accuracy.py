"""Clean accuracy that is too low to be the model's own."""

from __future__ import annotations

from snellen.checks.doubt import Clean, Doubt
from snellen.measure import accuracy

FAR = 0.10  # below the stated accuracy, as a share


def chance_level(clean: Clean) -> Doubt | None:
    """Accuracy whose 95% interval reaches down to 1 / classes."""
    estimate, classes = accuracy(clean.correct), len(clean.classes)
    if not estimate.n or classes < 2 or estimate.low > 1 / classes:
        return None
    return Doubt(
        "chance_level",
        f"{clean.who} is right on {100 * estimate.value:.1f}% of {estimate.n:,} unmodified images, not clearly above the "
        f"{100 / classes:.1f}% of guessing among {classes} classes",
        "check weights, preprocessing and class order, or show more images; drops from guessing mean nothing",
        clean.model,
    )


def below_stated(clean: Clean) -> Doubt | None:
    """Accuracy that is clearly, and by more than ten points, below what the model's card states."""
    estimate = accuracy(clean.correct)
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
