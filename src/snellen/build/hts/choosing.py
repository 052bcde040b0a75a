"""Which images a human testing subset has: so many per class and level, at random, of those that are clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from snellen.build.clarity import Clarity
from snellen.build.hts.measuring import ClarityVerdict
from snellen.build.hts.request import HtsRequest
from snellen.build.in9.grouping import rank
from snellen.data.dataset import Dataset
from snellen.data.ovis.levels import UNKNOWN, stated_level
from snellen.errors import UserError, is_command

NO_LEVEL, UNKNOWN_CLASS, SPARE = "no level", "unknown class", "not needed"


@dataclass(frozen=True)
class HtsChoice:
    """An image and what became of it: its class, its level, its number in both (from 1) where it was chosen, else a reason."""

    measure: ClarityVerdict
    category: str
    level: int
    number: int = 0
    reason: str = ""
    detail: str = ""


def levels_of(data: Dataset, request: HtsRequest) -> list[int]:
    """The level of each image, UNKNOWN where none is stated; 0 for all where levels do not count."""
    if not request.levels:
        return [0] * len(data)
    column = data.samples.columns.get("level")
    if column is None:
        no_levels = "--no-levels" if is_command() else "levels=False"
        raise UserError(
            f"{data.text} has no column 'level'; use the index of snellen build iruo, or {no_levels} for so many per class"
        )
    levels = [stated_level(str(level)) for level in column]
    return [UNKNOWN if level is None else level for level in levels]


def choose(
    data: Dataset, measures: Sequence[ClarityVerdict], levels: Sequence[int], clarity: Clarity, request: HtsRequest
) -> list[HtsChoice]:
    """What becomes of each image, in the order of the dataset."""
    choices = [_judge(data, verdict, levels[verdict.row], clarity) for verdict in measures]
    groups: dict[tuple[str, int], list[int]] = {}
    for place, chosen in enumerate(choices):
        if not chosen.reason:
            groups.setdefault((chosen.category, chosen.level), []).append(place)
    for places in groups.values():
        ids = data.samples.ids
        places.sort(key=lambda place: rank(request.seed, "hts", ids[choices[place].measure.row]))
        for number, place in enumerate(places, 1):
            chosen = choices[place]
            spare = number > request.per
            detail = f"{request.per} of {len(places)} are taken" if spare else ""
            choices[place] = HtsChoice(
                chosen.measure, chosen.category, chosen.level, 0 if spare else number, SPARE if spare else "", detail
            )
    return choices


def _judge(data: Dataset, verdict: ClarityVerdict, level: int, clarity: Clarity) -> HtsChoice:
    """The image, with the reason where it cannot be chosen."""
    label = int(data.samples.labels[verdict.row])
    category = data.classes[label] if label >= 0 else ""
    if label < 0:
        return HtsChoice(verdict, category, level, reason=UNKNOWN_CLASS, detail="it has no label")
    if level == UNKNOWN:
        return HtsChoice(verdict, category, level, reason=NO_LEVEL, detail="it states no level of 0, 1 or 2")
    reason, detail = (
        (verdict.reason, verdict.detail) if verdict.reason else clarity.refuse(verdict.pixels, verdict.sharpness)
    )
    return HtsChoice(verdict, category, level, reason=reason, detail=detail)


def lacking(choices: Sequence[HtsChoice], classes: Sequence[str], request: HtsRequest) -> Mapping[tuple[str, int], int]:
    """Of which classes and levels there are fewer images than wanted, and how many there are."""
    levels = sorted({choice.level for choice in choices if choice.level != UNKNOWN})
    counts = {(name, level): 0 for name in classes for level in levels}
    for choice in choices:
        if choice.number:
            counts[choice.category, choice.level] += 1
    return {key: count for key, count in counts.items() if count < request.per}
