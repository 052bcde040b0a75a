"""Decisions about images, and what those of several reviewers come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np

from snellen.build.in9.curation import Mend
from snellen.measure import ReviewerAgreement, reviewer_agreement

Decision = Literal["accept", "mend", "reject"]
OTHER = "other"  # a reason that only the note explains


@dataclass(frozen=True)
class Review:
    """One decision of one reviewer about one image.

    `box` is the one they drew, None where it stays, and `strokes` what they painted, as JSON; `has_mask` is whether that changed
    the mask. A `final` one settles what reviewers judged differently.
    """

    number: int
    reviewer: str
    sample: str
    decision: Decision
    reason: str = ""
    note: str = ""
    box: tuple[int, ...] | None = None
    strokes: str = ""
    has_mask: bool = False
    final: bool = False

    @property
    def why(self) -> str:
        """The reason as lists have it: with the note behind it."""
        return f"{self.reason}: {self.note}" if self.reason and self.note else self.reason or self.note

    @property
    def content(self) -> tuple[object, ...]:
        """What two reviews must share to settle an image alike."""
        return self.decision, self.box, self.strokes


@dataclass(frozen=True)
class Settled:
    """What all reviews come to: by image the one that counts, and the images that are judged differently, with those reviews."""

    reviews: Mapping[str, Review]
    open: Mapping[str, Sequence[Review]]
    pairs: Sequence[ReviewerPair] = field(default=())


@dataclass(frozen=True)
class ReviewerPair:
    """Two reviewers and how far their decisions (accept, mend or reject) agree."""

    first: str
    second: str
    agreement: ReviewerAgreement


def settle(own: Mapping[str, Mapping[str, Review]], final: Mapping[str, Review]) -> Settled:
    """What counts for each image, of the reviews by reviewer and sample and those that settled differences.

    Reviewers agree where they decide alike and, of an image that they mend, painted the same; of two that reject it the first
    one's reason counts.
    """
    by_sample: dict[str, list[Review]] = {}
    for reviewer in sorted(own):
        for sample, review in own[reviewer].items():
            by_sample.setdefault(sample, []).append(review)
    counting, differing = dict(final), {}
    for sample, reviews in by_sample.items():
        if sample in final:
            continue
        if len({review.decision if review.decision != "mend" else review.content for review in reviews}) == 1:
            counting[sample] = reviews[0]
        else:
            differing[sample] = reviews
    return Settled(counting, differing, agreements(own))


def agreements(own: Mapping[str, Mapping[str, Review]]) -> list[ReviewerPair]:
    """Cohen's kappa of every two reviewers over the images that both have decided."""
    pairs = []
    for first, second in combinations(sorted(own), 2):
        shared = sorted(own[first].keys() & own[second].keys())
        if shared:
            decisions = [np.array([own[name][sample].decision for sample in shared]) for name in (first, second)]
            pairs.append(ReviewerPair(first, second, reviewer_agreement(*decisions)))
    return pairs


def mend_of(review: Review, mask: np.ndarray | None) -> Mend | None:
    """What a review changes of its image; None where nothing."""
    return None if review.decision != "mend" else Mend(review.box, mask)
