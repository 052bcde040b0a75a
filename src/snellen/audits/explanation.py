"""Explanations: whether the maps of what matters to a model lie on the objects, and are faithful to it (Won et al. 2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from snellen.audits.alignment import Alignment, MapReading, alignment_of, common
from snellen.audits.alignment_facts import DisagreementFacts, EnergyFacts, FilterCounts
from snellen.audits.alignment_findings import (
    COMPARED,
    FACTS,
    NAMES,
    AlignmentPair,
    alignment_findings,
    comparison_findings,
)
from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts
from snellen.audits.faithfulness import FaithfulnessAudit, FilteredImages, deletion_differences
from snellen.audits.finding import Finding
from snellen.audits.told_apart import made_by
from snellen.distort.law import expect_within
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.engine.requests.map import MapRequest
from snellen.errors import UserError, unknown
from snellen.measure.localisation import Component


@dataclass(frozen=True)
class SampleFilter:
    """Images count whose true class has a probability above `confidence` for all runs of all models, and whose objects cover
    more than `smallest` and less than `largest` of the image that each model sees (Won et al. 2023, section 5.1)."""

    confidence: float
    smallest: float
    largest: float

    def chosen(self, everyone: Sequence[Answers], alignments: Sequence[Alignment], clean: Cell) -> FilteredImages:
        """The images that count."""
        ids = common(alignments)
        sure = set.intersection(*(self._sure(answers, clean) for answers in everyone))
        sized = set.intersection(*(self._sized(alignment) for alignment in alignments))
        both = [sample for sample in ids if sample in sure and sample in sized]
        counts = FilterCounts(
            images=len(ids),
            confident=sum(sample in sure for sample in ids),
            sized=sum(sample in sized for sample in ids),
            chosen=len(both),
        )
        return FilteredImages(tuple(both), counts)

    def _sure(self, answers: Answers, clean: Cell) -> set[str]:
        block = answers[clean]
        return {str(sample) for sample in block.ids[(block.label_prob > self.confidence).all(0)]}

    def _sized(self, alignment: Alignment) -> set[str]:
        fits = (alignment.share > self.smallest) & (alignment.share < self.largest)
        return {sample for sample, fitting in zip(alignment.ids, fits) if fitting}


@dataclass(frozen=True)
class ExplanationAudit(Audit):
    """How far the maps of each model, of its own answers to the clean images, lie on the objects, and how faithful they are.

    EnergyPG is the share of a map's energy on the object, EHR the same over many thresholds; WSOL compares the box around
    what exceeds `threshold` of a map's maximum (of `all` such pixels or their `largest` component) with the object's; the
    pointing game asks where the peak is. `method` is an attribution method or a list of them, `layer` where the maps are
    read. The object is its `boxes` where the data have any, else its mask; `mask` and `box` ask for one of them.

    `filter=on` takes only images whose true class has a probability above `confidence` for all models and whose objects cover
    between the two `object_share` of the image. Every model is compared with the `baseline`, by default the first: differences,
    the gain ratio, and the images on which WSOL and EnergyPG disagree. `examples` images are pictured.

    `curves` also asks whether answers rest on what the maps call relevant, by deletion and insertion: the audit `faithfulness`
    with its usual settings, once per method, on the same images. `full` follows every point of its curves, `off` leaves it out.
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
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = FACTS

    def __post_init__(self) -> None:
        if not self.methods or len(set(self.methods)) < len(self.methods):
            raise ValueError("expected a method, or a list of different ones, such as [gradcam]")
        for name, value in (("threshold", self.threshold), ("confidence", self.confidence)):
            expect_within(name, value, 0, 1)
        expect_within("examples", self.examples, 0, 1000)
        if len(self.object_share) != 2 or not 0 <= self.object_share[0] < self.object_share[1] <= 1:
            raise ValueError("expected object_share as two rising shares of the image, such as [0.1, 0.5]")
        if self.curves != "off":
            object.__setattr__(self, "names", (*NAMES, *FaithfulnessAudit.names))
            object.__setattr__(self, "compared", (*COMPARED, *FaithfulnessAudit.compared))

    @property
    def methods(self) -> tuple[str, ...]:
        """The attribution methods, one or several."""
        return (self.method,) if isinstance(self.method, str) else tuple(self.method)

    @property
    def faithfulness(self) -> list[FaithfulnessAudit]:
        """What asks how faithful the maps are, for each method; their random orders are the same questions."""
        if self.curves == "off":
            return []
        return [FaithfulnessAudit(method, self.layer, evaluation=self.curves) for method in self.methods]

    @property
    def sample_filter(self) -> SampleFilter | None:
        """Which images count; None for all."""
        return None if self.filter == "off" else SampleFilter(self.confidence, *self.object_share)

    def region(self, exam: Exam) -> Literal["mask", "box"]:
        """What counts as the object."""
        if self.boxes != "auto":
            return self.boxes
        return "box" if "boxes" in exam.facts.get("test", ("boxes",)) else "mask"

    def readings(self, exam: Exam) -> list[MapReading]:
        """How maps are read, for each method."""
        return [
            MapReading(exam.map(self.layer, method), self.region(exam), self.threshold, self.component)
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
        return [cell for audit in self.faithfulness for cell in audit.cells(exam)]

    def maps(self, exam: Exam) -> list[MapRequest]:
        return [reading.request for reading in self.readings(exam)]

    def trials(self, exam: Exam) -> list[Cell]:
        return [cell for audit in self.faithfulness for cell in audit.trials(exam)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        if self.filter == "on":  # which images it leaves is known only when all models are there
            return []
        return [
            *(
                finding
                for reading in self.readings(exam)
                for finding in self._findings(exam, answers.model, alignment_of(answers, reading), reading)
            ),
            *(finding for audit in self.faithfulness for finding in made_by(audit, audit.conclude(exam, answers))),
        ]

    def compare(self, exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
        """Each model beside the baseline; of filtered images also what is found of each model. Then faithfulness, by pairs."""
        pairs: list[AlignmentPair] = []
        concluded: list[Finding] = []
        readings = self.readings(exam)
        chosen = [self._chosen(exam, everyone, reading) for reading in readings]
        for reading, images in zip(readings, chosen):
            alignments = {answers.model: alignment_of(answers, reading) for answers in everyone}
            if images is not None:
                alignments = {model: alignment.of(images.ids) for model, alignment in alignments.items()}
                for model, alignment in alignments.items():
                    concluded += self._findings(exam, model, alignment, reading, images.counts)
            baseline = self.baseline or next(iter(alignments))
            pairs += [
                AlignmentPair.of(exam, (model, baseline), (alignment, alignments[baseline]), reading)
                for model, alignment in alignments.items()
                if model != baseline
            ]
        curves = list(zip(self.faithfulness, chosen))
        for audit, images in curves:
            if images is not None:
                for answers in everyone:
                    concluded += made_by(audit, audit.conclude(exam, answers, images))
        return [*concluded, *comparison_findings(pairs), *deletion_differences(curves, exam, everyone)]

    def _chosen(self, exam: Exam, everyone: Sequence[Answers], reading: MapReading) -> FilteredImages | None:
        """The images that the filter leaves; None without one."""
        if self.sample_filter is None:
            return None
        alignments = [alignment_of(answers, reading) for answers in everyone]
        return self.sample_filter.chosen(everyone, alignments, exam.clean())

    def pictures(self, exam: Exam, findings: Sequence[Finding]) -> list[tuple[Cell, str]]:
        """The images of which a page shows the maps: examples, those on which WSOL and EnergyPG disagree, and those with the
        most and the least faithful maps."""
        samples: list[str] = []
        for finding in findings:
            if isinstance(finding.facts, EnergyFacts):
                samples += [example.sample for example in finding.facts.examples]
        for finding in findings:
            if isinstance(finding.facts, DisagreementFacts):
                samples += [pair.own.sample for pair in finding.facts.pairs]
        own = [(exam.clean(), sample) for sample in dict.fromkeys(samples)]
        return own + [picture for audit in self.faithfulness[:1] for picture in audit.pictures(exam, findings)]

    def _findings(
        self, exam: Exam, model: str, alignment: Alignment, reading: MapReading, chosen: FilterCounts | None = None
    ) -> list[Finding]:
        return alignment_findings(exam, model, alignment, reading, self.examples, chosen)
