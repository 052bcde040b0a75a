"""Which images a human testing subset has: so many per class and level, at random, of those that are clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from snellen.build.clarity import Clarity
from snellen.build.hts.measuring import Measure
from snellen.build.hts.settings import Settings
from snellen.build.in9.grouping import rank
from snellen.data.dataset import Dataset
from snellen.data.ovis.levels import UNKNOWN, stated_level
from snellen.errors import UserError

NO_LEVEL, UNKNOWN_CLASS, SPARE = "no level", "unknown class", "not needed"


@dataclass(frozen=True)
class Choice:
    """An image and what became of it: its class, its level, its number in both (from 1) where it was chosen, else a reason."""

    measure: Measure
    category: str
    level: int
    number: int = 0
    reason: str = ""
    detail: str = ""


def levels_of(data: Dataset, settings: Settings) -> list[int]:
    """The level of each image, UNKNOWN where none is stated; 0 for all where levels do not count."""
    if not settings.levels:
        return [0] * len(data)
    column = data.samples.columns.get("level")
    if column is None:
        raise UserError(
            f"{data.text} has no column 'level'; use the index of snellen build iruo, or --no-levels for so many per class"
        )
    levels = [stated_level(str(one)) for one in column]
    return [UNKNOWN if level is None else level for level in levels]


def choose(
    data: Dataset, measures: Sequence[Measure], levels: Sequence[int], clarity: Clarity, settings: Settings
) -> list[Choice]:
    """What becomes of each image, in the order of the dataset."""
    choices = [_judge(data, one, levels[one.row], clarity) for one in measures]
    groups: dict[tuple[str, int], list[int]] = {}
    for place, choice in enumerate(choices):
        if not choice.reason:
            groups.setdefault((choice.category, choice.level), []).append(place)
    for places in groups.values():
        ids = data.samples.ids
        places.sort(key=lambda place: rank(settings.seed, "hts", ids[choices[place].measure.row]))
        for number, place in enumerate(places, 1):
            one = choices[place]
            spare = number > settings.per
            detail = f"{settings.per} of {len(places)} are taken" if spare else ""
            choices[place] = Choice(
                one.measure, one.category, one.level, 0 if spare else number, SPARE if spare else "", detail
            )
    return choices


def _judge(data: Dataset, one: Measure, level: int, clarity: Clarity) -> Choice:
    """The image, with the reason where it cannot be chosen."""
    label = int(data.samples.labels[one.row])
    category = data.classes[label] if label >= 0 else ""
    if label < 0:
        return Choice(one, category, level, reason=UNKNOWN_CLASS, detail="it has no label")
    if level == UNKNOWN:
        return Choice(one, category, level, reason=NO_LEVEL, detail="it states no level of 0, 1 or 2")
    reason, detail = (one.reason, one.detail) if one.reason else clarity.refuse(one.pixels, one.sharpness)
    return Choice(one, category, level, reason=reason, detail=detail)


def lacking(choices: Sequence[Choice], classes: Sequence[str], settings: Settings) -> Mapping[tuple[str, int], int]:
    """Of which classes and levels there are fewer images than wanted, and how many there are."""
    levels = sorted({one.level for one in choices if one.level != UNKNOWN})
    counts = {(name, level): 0 for name in classes for level in levels}
    for one in choices:
        if one.number:
            counts[one.category, one.level] += 1
    return {key: count for key, count in counts.items() if count < settings.per}
