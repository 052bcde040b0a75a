"""Concepts: how many units of a layer follow something people have a name for (Won et al. 2023, section 5.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, ClassVar

import msgspec
import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts
from snellen.audits.finding import Finding, finding
from snellen.concepts.dissection import Dissection, iou_of
from snellen.concepts.sources import default_sources
from snellen.distort.law import expect_within
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.engine.requests.survey import SurveyTable
from snellen.measure import Estimate, accuracy, detector_units
from snellen.measure.detectors import DetectorUnits

AUDIT = "concepts"
SHOWN = 16  # units that a page shows


class BestUnit(msgspec.Struct, frozen=True):
    """A unit that detects a concept, and the IoU of its mask with it."""

    unit: int
    concept: str
    category: str
    iou: float


class ConceptFacts(FindingFacts, frozen=True, kw_only=True):
    """The layer, the survey that counted its units (`request`) over all images, and the IoU above which a unit detects.

    By category: how many concepts were looked for, how many different ones are detected and how many units detect one, the
    latter two as means over runs; `best` are units of the first run, the highest IoU first.
    """

    layer: str
    request: str
    units: int
    images: int
    threshold: float
    concepts: dict[str, int]
    unique: dict[str, float]
    detectors: dict[str, float]
    best: tuple[BestUnit, ...]


@dataclass(frozen=True)
class ConceptsAudit(Audit):
    """How many units of a `layer` detect a concept, and how many different concepts are detected (Bau et al. 2017).

    A unit detects the concept that its mask overlaps with most, if the IoU over all images is above `threshold`. Its mask is
    where its values, brought to a `grid` of cells per side, are above their `quantile`. Concepts come from `sources`: `data`
    (masks, label maps, or all that the phantom world knows), `colours`, `'labels:DIR'` or `'model:TEXT'`; by default from
    `colours` and, where the data know something, from `data`. Classes of the data and of models are objects but for those that
    a table names, as in `'model:TEXT?categories=FILE'`. The layer is a name, a stage from the end (-2), or the last one.
    """

    layer: int | str | None = None
    sources: tuple[str, ...] = ()
    quantile: float = 0.99
    threshold: float = 0.04
    grid: int = 56
    title: ClassVar[str] = "Concepts"
    names: ClassVar[tuple[str, ...]] = ("detector_share", "unique_concepts")
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = dict.fromkeys(names, ConceptFacts)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(self.sources))
        expect_within("threshold", self.threshold, 0, 1)
        self._dissection(("colours",))  # refuses what it cannot do

    def surveys(self, exam: Exam) -> list[Cell]:
        sources = self.sources or default_sources(exam.facts.get("test", frozenset()))
        return [Cell(self._dissection(sources), "test", 0)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        (cell,) = self.surveys(exam)
        tables = answers.surveys(cell)
        runs = [self._units(table) for table in tables]
        detectors = [units.detectors.astype(float) for units in runs]
        share = mean_share(detectors)
        unique = [float(sum(units.unique.values())) for units in runs]
        facts = self._facts(str(cell.distortion), tables, runs)
        counts = Estimate(float(np.mean(unique)), nan, nan, share.n)
        words: dict[str, Any] = {"facts": facts, "better": "higher"}
        where = f"layer {facts.layer}"
        return [
            finding(
                AUDIT, "detector_share", answers.model, share, f"share of the units of {where} that detect a concept",
                per_run=tuple(float(run.mean()) for run in detectors), label="Units that detect a concept",
                topic="detectors of concepts", **words,
            ),
            finding(
                AUDIT, "unique_concepts", answers.model, counts, f"different concepts that units of {where} detect",
                per_run=tuple(unique), unit="count", label="Different concepts detected", topic="different concepts", **words,
            ),
        ]  # fmt: skip

    def _dissection(self, sources: tuple[str, ...]) -> Dissection:
        return Dissection(self.layer, sources, self.quantile, self.grid)

    def _units(self, table: SurveyTable) -> DetectorUnits:
        things = table.things
        return detector_units(iou_of(table), things["concept"], things["category"], self.threshold)

    def _facts(self, request: str, tables: Sequence[SurveyTable], runs: Sequence[DetectorUnits]) -> ConceptFacts:
        """What the report shows; of several runs the counts are means and the best units those of the first."""
        table, first = tables[0], runs[0]
        categories = list(first.unique)
        best = np.argsort(-first.iou, kind="stable")
        shown = [int(unit) for unit in best if first.detectors[unit] and table.rows[unit]["pictures"] is not None]
        return ConceptFacts(
            layer=table.rows[0]["layer"] if table.rows else "",
            request=request,
            units=len(table.rows),
            images=table.rows[0]["images"] if table.rows else 0,
            threshold=self.threshold,
            concepts={category: table.things["category"].count(category) for category in categories},
            unique={category: float(np.mean([run.unique[category] for run in runs])) for category in categories},
            detectors={category: float(np.mean([run.units[category] for run in runs])) for category in categories},
            best=tuple(_best(unit, first, table.things) for unit in shown[:SHOWN]),
        )


def mean_share(detectors: Sequence[np.ndarray]) -> Estimate:
    """The share of units that are detectors, over all runs; its interval takes the units as drawn at random."""
    every = np.concatenate(detectors) if detectors else np.zeros(0)
    return accuracy(every)


def _best(unit: int, units: DetectorUnits, things: Mapping[str, Sequence[Any]]) -> BestUnit:
    place = int(units.best[unit])
    return BestUnit(unit, things["concept"][place], things["category"][place], float(units.iou[unit]))
