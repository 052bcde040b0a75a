"""Maps inside the masks: how much of what speaks for a model's answers lies on the objects."""

from __future__ import annotations

from snellen.report.results import Results
from snellen.report.sections.section import Section
from snellen.report.words import interval, is_known, percent

AUDIT = "inside_mask"


def inside_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """The share of the maps on the object beside that of an even map; a lead only where the interval excludes it."""
    own = (one for one in results.of_audit(AUDIT) if one["model"] == model and one["name"] == "inside_mask")
    one = next(own, None)
    if one is None or not is_known(one["value"]):
        return []
    even = one["facts"]["mask_share"]
    rank = "more than" if one["low"] > even else "less than" if one["high"] < even else "not told apart from"
    return [
        (
            "Maps",
            f"{percent(one['value'])} of the map lies on the object (95% interval "
            f"{interval(one['low'], one['high'], 'share')}%), {rank} the {percent(even)} of an even map.",
        )
    ]


INSIDE_MASK = Section(verdict=inside_sentence, columns={"map on object": lambda one: one["name"] == "inside_mask"})
