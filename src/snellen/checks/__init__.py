"""A number is checked before it is believed: what can be wrong with models, data and their fit, seen in clean answers."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.checks.clean_answers import CHECKS, doubts_about, merge_runs
from snellen.checks.copied_images import ListedImage, copies, stored_copies
from snellen.checks.doubt import CleanAnswers, Doubt
from snellen.lazy_names import lister


def refusal(doubts: Sequence[Doubt]) -> str:
    """The error of --strict: the first doubt, and how many more there are.

    >>> from snellen.checks import Doubt, refusal
    >>> few = Doubt("chance_level", "'net' is right on 9.4% of 64 images", "give a label map", "net")
    >>> order = Doubt("class_order", "'net' names other classes", "give a label map", "net")
    >>> refusal([few, order])
    "'net' is right on 9.4% of 64 images — give a label map (and 1 other warning)"
    """
    more = len(doubts) - 1
    others = f" (and {more} other warning{'s' if more > 1 else ''})" if more else ""
    return f"{doubts[0]}{others}"


def certain(doubts: Sequence[Doubt]) -> list[Doubt]:
    """The doubts of a first look that more images would not dispel: all but accuracy near chance on few of them.

    >>> from snellen.checks import Doubt, certain
    >>> few = Doubt("chance_level", "'net' is right on 9.4% of 64 images", "give a label map", "net")
    >>> order = Doubt("class_order", "'net' names other classes", "give a label map", "net")
    >>> [doubt.name for doubt in certain([few, order])]
    ['class_order']
    """
    return [doubt for doubt in doubts if doubt.name != "chance_level"]


__all__ = [
    "CHECKS",
    "CleanAnswers",
    "Doubt",
    "ListedImage",
    "certain",
    "copies",
    "doubts_about",
    "merge_runs",
    "refusal",
    "stored_copies",
]
__dir__ = lister(__all__)
