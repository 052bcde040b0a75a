"""Attention under occlusion: whether a transformer attends to what is visible of the object (Kassaw et al. 2024, figure 16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from snellen.attention.survey import REGIONS, AttentionMass, example_places
from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.finding import Finding, finding
from snellen.distort import Distortion, Lattice, Nothing
from snellen.distort.language import parse_each
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.engine.requests.survey import SurveyTable
from snellen.measure import accuracy

AUDIT = "attention"
SIZES = (1, 2, 4, 8, 16)  # of the squares of a lattice, in pixels, as published
WORDS = {
    "visible": "the visible object",
    "occluder": "the occluder",
    "background": "the background",
    "object": "the object, hidden or not",
}
BETTER: dict[str, Literal["higher", "lower", ""]] = {
    "visible": "higher",
    "occluder": "lower",
    "background": "",
    "object": "higher",
}
BOUNDS = {"visible": "most_visible", "occluder": "least_occluder"}


class AttentionFacts(FindingFacts, frozen=True, kw_only=True):
    """What the images are shown under, in words (of a lattice also its pixels and covered share), the region and the accuracy.

    `even` is what even attention would have on the region, `best` the most on the visible object, or the least on the
    occluder, that attention to whole patches (height and width in pixels, by layer) can; `layers` are the means of each layer.
    `request` is the survey of the attention, with pictures of the `examples`.
    """

    condition: str
    px: int | None
    share: float | None
    patch: tuple[tuple[float, float], ...]
    request: str
    examples: tuple[str, ...]
    accuracy: Number
    region: str
    even: Number
    best: Number | UnsetType = UNSET
    layers: Mapping[str, Number]


@dataclass(frozen=True)
class AttentionAudit(Audit):
    """How much of the attention of the object's patches goes to what is visible of it, to the occluder and to the background,
    and how much to the object's place, hidden or not.

    The images are shown as they are and under each of `occluders`: distortions that cover pixels, by default lattices over half
    of the image with squares of 1, 2, 4, 8 and 16 pixels. `layers` are blocks from the start (0, 1, …), from the end (-1) or by
    name; by default of twelve the third, seventh and eleventh. Findings are means over them. `examples` images are pictured. Data
    must have masks, and models must be transformers (ViT, DeiT, Swin).
    """

    occluders: tuple[Any, ...] = ()
    layers: tuple[int | str, ...] = ()
    examples: int = 4
    title: ClassVar[str] = "Attention under occlusion"
    names: ClassVar[tuple[str, ...]] = tuple(f"attention_{region}" for region in REGIONS)
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = dict.fromkeys(names, AttentionFacts)

    def __post_init__(self) -> None:
        object.__setattr__(self, "occluders", parse_each(self.occluders))
        object.__setattr__(self, "layers", tuple(self.layers))
        for occluder in self.occluders:
            self._survey(occluder)  # refuses what it cannot do

    def conditions(self, exam: Exam) -> list[Distortion]:
        """What the images are shown under, first nothing."""
        default = [Lattice(0.5, px) for px in SIZES if 2 * px <= exam.side]
        return list(dict.fromkeys([Nothing(), *(self.occluders or default)]))

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.cell(occluder) for occluder in self.conditions(exam)]

    def surveys(self, exam: Exam) -> list[Cell]:
        return [self._cell(exam, occluder) for occluder in self.conditions(exam)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        return [
            conclusion for occluder in self.conditions(exam) for conclusion in self._findings(exam, answers, occluder)
        ]

    def _survey(self, occluder: Distortion) -> AttentionMass:
        return AttentionMass(occluder, self.layers, self.examples)

    def _cell(self, exam: Exam, occluder: Distortion) -> Cell:
        return Cell(self._survey(occluder), "test", exam.seed)

    def _findings(self, exam: Exam, answers: Answers, occluder: Distortion) -> list[Finding]:
        """The findings of one condition; of clean images there is none about the occluder."""
        cell, survey = exam.cell(occluder), self._cell(exam, occluder)
        tables = answers.surveys(survey)
        clean = isinstance(occluder, Nothing)
        under = "clean images" if clean else occluder.words()
        ids = list(dict.fromkeys(row["sample"] for row in tables[0].rows))
        groups = exam.column("group", ids)
        shared = {
            **self._shared_facts(exam, tables[0], occluder),
            "condition": under,
            "request": str(survey.distortion),
            "accuracy": accuracy(answers[cell].score, answers[cell].groups).value,
        }
        findings = []
        for region in REGIONS:
            if clean and region == "occluder":
                continue
            mass = np.stack([_over_layers(table, region) for table in tables])
            estimate = accuracy(mass, groups)
            even, best = _references(tables[0], region)
            facts = AttentionFacts(**shared, region=region, even=even, best=best, layers=_by_layer(tables, region))
            findings.append(
                finding(
                    AUDIT,
                    f"attention_{region}",
                    answers.model,
                    estimate,
                    f"share of the attention of the object's patches on {WORDS[region]}, {under}",
                    better=BETTER[region],
                    cells=(cell,),
                    facts=facts,
                    per_run=tuple(_mean(run) for run in mass),
                    label=f"Attention on {WORDS[region]}, {under}",
                )
            )
        return findings

    def _shared_facts(self, exam: Exam, table: SurveyTable, occluder: Distortion) -> dict[str, Any]:
        """The facts that the occluder and the survey tell of every region."""
        listing = exam.samples["test"].ids
        lattice = occluder if isinstance(occluder, Lattice) else None
        return {
            "px": None if lattice is None else lattice.px,
            "share": None if lattice is None else lattice.share,
            "patch": tuple(tuple(sides) for sides in table.things["patch"]),
            "examples": tuple(listing[place] for place in example_places(listing, self.examples)),
        }


def _column(table: SurveyTable, name: str) -> np.ndarray:
    """float [samples, layers]: a column of a survey's table."""
    values = np.array([np.nan if row[name] is None else row[name] for row in table.rows], float)
    return values.reshape(-1, len(table.things["layer"]))


def _over_layers(table: SurveyTable, name: str) -> np.ndarray:
    """float [samples]: the mean over layers, all of which know an image or none."""
    return np.asarray(_column(table, name).mean(1))


def _references(table: SurveyTable, region: str) -> tuple[float, float | UnsetType]:
    """What even attention would have on a region, and the best that any attention to whole patches could."""
    known = ~np.isnan(_over_layers(table, region))
    even = _mean(_over_layers(table, f"{region}_area")[known])
    return even, _mean(_over_layers(table, BOUNDS[region])[known]) if region in BOUNDS else UNSET


def _by_layer(tables: Sequence[SurveyTable], region: str) -> dict[str, float]:
    """The mean of each layer over images and runs."""
    runs = [_column(table, region) for table in tables]
    return {
        name: _mean(np.concatenate([run[:, place] for run in runs]))
        for place, name in enumerate(tables[0].things["layer"])
    }


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
