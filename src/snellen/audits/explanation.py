"""Explanations: whether the maps of what matters to a model lie on the objects, and are faithful to it (Won et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from snellen.audits.alignment import Alignment, Reading, alignment_of
from snellen.audits.alignment_findings import AUDIT, COMPARED, NAMES, alignment_findings, comparison_findings
from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.faithfulness import Faithfulness
from snellen.audits.finding import Finding
from snellen.audits.sample_filter import SampleFilter
from snellen.distort.law import expect_within
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.engine.requests.map import MapRequest
from snellen.errors import UserError, unknown
from snellen.measure.localisation import Component


@dataclass(frozen=True)
class Explanation(Audit):
    """How far the maps of each model, of its own answers to the clean images, lie on the objects, and how faithful they are.

    EnergyPG is the share of a map's energy on the object, EHR the same over many thresholds; WSOL compares the box around
    what exceeds `threshold` of a map's maximum (of `all` such pixels or their `largest` component) with the object's; the
    pointing game asks where the peak is. `method` is an attribution method or a list of them, `layer` where the maps are
    read. The object is its `boxes` where the data have any, else its mask; `mask` and `box` ask for one of them.

    `filter=on` takes only images whose true class has a probability above `confidence` for all models and whose objects cover
    between the two `object_share` of the image. Every model is compared with the `baseline`, by default the first: differences,
    the gain ratio, and the images on which WSOL and EnergyPG disagree. `examples` images are pictured.

    `curves` also asks whether answers rest on what the maps call relevant, by deletion and insertion: the audit `faithfulness`
    with its usual settings, once per method. `full` follows every point of its curves, `off` leaves it out. The filter does
    not apply to it.
    """

    method: str | tuple[str, ...] = "gradcam"
    layer: int | str | None = None
    threshold: float = 0.15
    component: Component = "all"
    boxes: Literal["auto", "mask", "box"] = "auto"
    filter: Literal["off", "on"] = "off"
    confidence: float = 0.6
    object_share: tuple[float, ...] = (0.1, 0.5)
    baseline: str | None = None
    examples: int = 8
    curves: Literal["adaptive", "full", "off"] = "adaptive"
    title: ClassVar[str] = "Explanations"
    names: ClassVar[tuple[str, ...]] = NAMES
    compared: ClassVar[tuple[str, ...]] = COMPARED

    def __post_init__(self) -> None:
        if not self.methods or len(set(self.methods)) < len(self.methods):
            raise ValueError("expected a method, or a list of different ones, such as [gradcam]")
        for name, value in (("threshold", self.threshold), ("confidence", self.confidence)):
            expect_within(name, value, 0, 1)
        expect_within("examples", self.examples, 0, 1000)
        if len(self.object_share) != 2 or not 0 <= self.object_share[0] < self.object_share[1] <= 1:
            raise ValueError("expected object_share as two rising shares of the image, such as [0.1, 0.5]")
        if self.curves != "off":
            object.__setattr__(self, "names", (*NAMES, *Faithfulness.names))
            object.__setattr__(self, "compared", (*COMPARED, *Faithfulness.compared))

    @property
    def methods(self) -> tuple[str, ...]:
        """The attribution methods, one or several."""
        return (self.method,) if isinstance(self.method, str) else tuple(self.method)

    @property
    def faithfulness(self) -> list[Faithfulness]:
        """What asks how faithful the maps are, for each method; their random orders are the same questions."""
        if self.curves == "off":
            return []
        return [Faithfulness(method, self.layer, evaluation=self.curves) for method in self.methods]

    @property
    def sample_filter(self) -> SampleFilter | None:
        """Which images count; None for all."""
        return None if self.filter == "off" else SampleFilter(self.confidence, *self.object_share)

    def region(self, exam: Exam) -> Literal["mask", "box"]:
        """What counts as the object."""
        if self.boxes != "auto":
            return self.boxes
        return "box" if "boxes" in exam.facts.get("test", ("boxes",)) else "mask"

    def readings(self, exam: Exam) -> list[Reading]:
        """How maps are read, for each method."""
        return [
            Reading(exam.map(self.layer, method), self.region(exam), self.threshold, self.component)
            for method in self.methods
        ]

    def cells(self, exam: Exam) -> list[Cell]:
        there = exam.facts.get("test", frozenset({"masks", "boxes"}))
        text = exam.texts.get("test", "the test data")
        if not there & {"masks", "boxes"}:
            raise UserError(
                f"{text} has neither boxes nor masks to compare maps with; give data that have, such as phantom:test or boxes:, "
                "or ask for the audit faithfulness, which needs none"
            )
        if self.boxes == "mask" and "masks" not in there:
            raise UserError(
                f"explanation(boxes=mask) needs masks, which {text} does not have; leave it out, or boxes=box"
            )
        if self.baseline is not None and exam.models and self.baseline not in exam.models:
            raise unknown("baseline of explanation", self.baseline, exam.models)
        return [cell for one in self.faithfulness for cell in one.cells(exam)]

    def maps(self, exam: Exam) -> list[MapRequest]:
        return [reading.request for reading in self.readings(exam)]

    def trials(self, exam: Exam) -> list[Cell]:
        return [cell for one in self.faithfulness for cell in one.trials(exam)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        # Which images a filter leaves is known only when all models are there.
        readings = self.readings(exam) if self.filter == "off" else []
        return [
            *(
                one
                for reading in readings
                for one in self._findings(exam, answers.model, alignment_of(answers, reading), reading, {})
            ),
            *(one for audit in self.faithfulness for one in audit.conclude(exam, answers)),
        ]

    def compare(self, exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
        """Each model beside the baseline; of filtered images also what is found of each model. Then faithfulness, by pairs."""
        return [
            *(one for reading in self.readings(exam) for one in self._compare(exam, everyone, reading)),
            *(one for audit in self.faithfulness for one in audit.compare(exam, everyone, findings)),
        ]

    def pictures(self, exam: Exam, findings: Sequence[Finding]) -> list[tuple[Cell, str]]:
        """The images of which a page shows the maps: examples, those on which WSOL and EnergyPG disagree, and those with the
        most and the least faithful maps."""
        facts = [one.facts for one in findings if one.audit == AUDIT]
        samples = [example["sample"] for one in facts for example in one.get("examples", ())]
        samples += [pair["own"]["sample"] for one in facts for pair in one.get("pairs", ())]
        own = [(exam.clean(), sample) for sample in dict.fromkeys(samples)]
        return own + [picture for one in self.faithfulness[:1] for picture in one.pictures(exam, findings)]

    def _compare(self, exam: Exam, everyone: Sequence[Answers], reading: Reading) -> list[Finding]:
        alignments = {answers.model: alignment_of(answers, reading) for answers in everyone}
        findings: list[Finding] = []
        if (chosen := self.sample_filter) is not None:
            ids, counts = chosen.chosen(everyone, list(alignments.values()), exam.clean())
            alignments = {model: one.of(ids) for model, one in alignments.items()}
            for model, one in alignments.items():
                findings += self._findings(exam, model, one, reading, {"filter": counts})
        baseline = self.baseline or next(iter(alignments))
        for model, one in alignments.items():
            if model != baseline:
                findings += comparison_findings(exam, (model, baseline), (one, alignments[baseline]), reading)
        return findings

    def _findings(
        self, exam: Exam, model: str, alignment: Alignment, reading: Reading, more: dict[str, Any]
    ) -> list[Finding]:
        more = {**more, "examples": alignment.examples(self.examples)}
        return alignment_findings(exam, model, alignment, reading, more)
