"""What the findings about backgrounds tell beyond their value."""

from __future__ import annotations

from typing import Literal

import msgspec

from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.run_facts import RunFacts


class VariantFacts(RunFacts, frozen=True, kw_only=True):
    """The variant of the images, the accuracy on the same images unmodified, and whether the variant lay beside the data."""

    kind: str
    original: Number
    stored: bool = False


class BgGapFacts(FindingFacts, frozen=True, kw_only=True):
    """The accuracies behind a gap: with backgrounds of the same class, with the others (one of the two), and unmodified."""

    mixed_same: Number
    mixed_rand: Number | UnsetType = UNSET
    mixed_next: Number | UnsetType = UNSET
    original: Number


class CategoryExample(msgspec.Struct, frozen=True, kw_only=True):
    """An image of a category: the name of its class, and its sample id in each variant that decides the category."""

    label: str = msgspec.field(name="class")
    samples: dict[str, str]


class NeedsBackgroundFacts(FindingFacts, frozen=True, kw_only=True):
    """How many answers fall into each category, of all images and by class; examples of each category for the first run; and
    the role of the data of each variant that the examples name (none: all are of the test data)."""

    counts: dict[str, int]
    by_class: dict[str, dict[str, int]]
    examples: dict[str, list[CategoryExample]] = msgspec.field(default_factory=dict)
    roles: list[str] = msgspec.field(default_factory=list)


class OutlineFacts(FindingFacts, frozen=True, kw_only=True):
    """The accuracies with the object and with its box blackened; not set where no outline is known."""

    no_fg: Number | UnsetType = UNSET
    only_bg_b: Number | UnsetType = UNSET


class AccuracyOfSize(msgspec.Struct, frozen=True, kw_only=True):
    """The accuracy where an object's box covered between `start` and `stop` of the image, shares of 0 to 1."""

    start: float
    stop: float
    value: Number
    low: Number
    high: Number
    n: int


class SizeEffectFacts(FindingFacts, frozen=True, kw_only=True):
    """The accuracy on backgrounds alone by the size of what was removed, and over all sizes."""

    bins: list[AccuracyOfSize]
    overall: Number


class ScaleLeakageFacts(FindingFacts, frozen=True, kw_only=True):
    """How often the class guessed from the size of the box is right, and how often the most frequent class is."""

    guessed: Number
    chance: Number


class ProgressPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model: its clean accuracy, and its accuracy on a variant or its gap."""

    model: str
    clean: Number
    value: Number


class ProgressFacts(FindingFacts, frozen=True, kw_only=True):
    """What a line over models is about (a key of `background_progress.LINES`), its height at 0, and its points."""

    of: str
    what: Literal["accuracy", "gap"]
    intercept: Number
    points: list[ProgressPoint]
