"""Which images a human testing subset has: clear ones, so many per class and level, or per class, type of occluder and band."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from snellen.build.clarity import Clarity
from snellen.build.covering.request import NONE
from snellen.build.hts.measuring import ClarityVerdict
from snellen.build.hts.request import HtsRequest
from snellen.build.in9.grouping import rank
from snellen.data.dataset import Dataset
from snellen.data.ovis.levels import UNKNOWN, stated_level
from snellen.errors import UserError, is_command, option
from snellen.measure.occlusion_levels import GATE_BINS, bin_names

NO_LEVEL, UNKNOWN_CLASS, SPARE = "no level", "unknown class", "not needed"
NO_BAND, UNCOVERED = "in no band", "not covered"
GATES = bin_names(GATE_BINS)[1:]  # 10–30% to 70–90%


HtsCell: TypeAlias = tuple[str, str, str]  # class, type of occluder (none by level), and band or level


@dataclass(frozen=True)
class HtsChoice:
    """An image and what became of it: its class, its level, its number among those alike (from 1) where chosen, else a reason.

    `type` and `band` of the hidden share are known where the images are chosen by them.
    """

    measure: ClarityVerdict
    category: str
    level: int
    number: int = 0
    reason: str = ""
    detail: str = ""
    type: str = ""
    band: str = ""

    @property
    def cell(self) -> HtsCell:
        """What so many images are taken of."""
        return self.category, self.type, self.band or str(self.level)


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


def check_bands(data: Dataset) -> None:
    """Refuse data of which no type and band of occluders is known."""
    missing = [name for name in ("type", "band") if name not in data.samples.columns]
    if missing:
        named = " nor ".join(f"'{name}'" for name in missing)
        raise UserError(
            f"{data.text} has no column {named}; {option('bands')} needs the index of snellen build diffuse"
        )


def choose(
    data: Dataset, measures: Sequence[ClarityVerdict], levels: Sequence[int], clarity: Clarity, request: HtsRequest
) -> list[HtsChoice]:
    """What becomes of each image, in the order of the dataset."""
    choices = [_judge(data, verdict, levels[verdict.row], clarity, request.bands) for verdict in measures]
    cells: dict[HtsCell, list[int]] = {}
    for place, chosen in enumerate(choices):
        if not chosen.reason:
            cells.setdefault(chosen.cell, []).append(place)
    sources = _sources(data)
    taken: Counter[str] = Counter()  # how often each photograph was, under whatever occluder
    for cell in sorted(cells):
        order = sorted(cells[cell], key=lambda place: _turn(data, choices[place], taken, sources, request))
        for number, place in enumerate(order, 1):
            if number > request.per:
                detail = f"{request.per} of {len(order)} are taken"
                choices[place] = replace(choices[place], reason=SPARE, detail=detail)
            else:
                choices[place] = replace(choices[place], number=number)
                taken[sources[choices[place].measure.row]] += 1
    return choices


def _turn(
    data: Dataset, choice: HtsChoice, taken: Mapping[str, int], sources: Sequence[str], request: HtsRequest
) -> tuple[int, str]:
    """When an image of a cell is taken: photographs that people see already last, else at random."""
    row = choice.measure.row
    return (taken.get(sources[row], 0) if request.bands else 0), str(rank(request.seed, "hts", data.samples.ids[row]))


def _sources(data: Dataset) -> Sequence[str]:
    """The photograph that each image was made of."""
    column = data.samples.columns.get("source")
    return data.samples.ids if column is None else [str(source) for source in column]


def _judge(data: Dataset, verdict: ClarityVerdict, level: int, clarity: Clarity, bands: bool) -> HtsChoice:
    """The image, with the reason where it cannot be chosen."""
    label = int(data.samples.labels[verdict.row])
    category = data.classes[label] if label >= 0 else ""
    if label < 0:
        return HtsChoice(verdict, category, level, reason=UNKNOWN_CLASS, detail="it has no label")
    kind, band = (str(data.samples.columns[name][verdict.row]) if bands else "" for name in ("type", "band"))
    if bands and kind == NONE:
        return HtsChoice(verdict, category, level, reason=UNCOVERED, detail="no occluder stands before it")
    if bands and not band:
        return HtsChoice(verdict, category, level, reason=NO_BAND, detail="its hidden share is in none of the bands")
    if level == UNKNOWN:
        return HtsChoice(verdict, category, level, reason=NO_LEVEL, detail="it states no level of 0, 1 or 2")
    reason, detail = (
        (verdict.reason, verdict.detail) if verdict.reason else clarity.refuse(verdict.pixels, verdict.sharpness)
    )
    return HtsChoice(verdict, category, level, reason=reason, detail=detail, type=kind, band=band)


def lacking(choices: Sequence[HtsChoice], classes: Sequence[str], request: HtsRequest) -> Mapping[HtsCell, int]:
    """Of which cells there are fewer images than wanted, and how many there are."""
    known = [choice for choice in choices if choice.reason not in (UNKNOWN_CLASS, NO_LEVEL, NO_BAND, UNCOVERED)]
    wanted = {choice.cell[1:] for choice in known if choice.level != UNKNOWN and (choice.band or not request.bands)}
    if request.bands:
        wanted |= {(kind, band) for kind, own in wanted if own in GATES for band in GATES}
    counts = {(name, *cell): 0 for name in classes for cell in sorted(wanted)}
    for choice in choices:
        if choice.number:
            counts[choice.cell] += 1
    return {cell: count for cell, count in counts.items() if count < request.per}
