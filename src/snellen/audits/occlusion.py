"""CutOcclusion and iOcclusion: what covering costs, and what it does to the train-test gap (Marcu & Prügel-Bennett 2022)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.class_removed import WithoutClassFacts, class_removed
from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts, Number
from snellen.audits.finding import Finding, accuracy_finding, finding
from snellen.audits.iocclusion import (
    CoverSeries,
    IOcclusionFacts,
    IOcclusionFillGapFacts,
    MeanIOcclusionFacts,
    at_share,
    covers_a_share,
    fill_gap,
    no_training_images,
    span,
)
from snellen.audits.iocclusion_evidence import (
    RandomGapFacts,
    RandomLabelsFacts,
    TailGapFacts,
    Typicality,
    judge_typicality,
    no_evidence,
    random_labels,
    tail_gap,
    with_option,
)
from snellen.audits.run_facts import RunFacts, run_facts
from snellen.audits.trust import TOO_FEW, can_dominate, dominant_in, interference_of
from snellen.distort import Cutouts, Occlude
from snellen.distort.fills import Fill
from snellen.distort.language import covering, in_words, parse_each
from snellen.distort.law import expect_within
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.errors import UserError, unknown
from snellen.measure import accuracy, paired_difference
from snellen.measure.estimate import NO_DATA
from snellen.notation import format_value

EVIDENCE = ("iocclusion_fill_gap", "iocclusion_tail_gap", "iocclusion_random_labels", "interference_without_class")
NEEDS_PARTS = (
    "needs to know which images are rare: files of ids, typical=[test.txt, train.txt] and tail=[test.txt, train.txt], or "
    "the names of other models as judges of it, judges=[NAME] (a proxy)"
)
NEEDS_RANDOM = (
    "needs networks that memorised random labels: snellen train ARCH --data '{data}' --runs 5 --out random; then add "
    "them to the audit as random=random/*.safetensors and name them, random_labels=[random]"
)
NEEDS_REMOVED = (
    "needs networks that never saw the class which squares are taken for ({taker}): snellen train ARCH --data '{data}' "
    "--runs 5 --out without; then add them to the audit as without=without/*.safetensors"
)


class CutOcclusionFacts(RunFacts, frozen=True, kw_only=True):
    """What covers the images, over all sizes: a fill, or `cutout` for the user's own."""

    fill: str


class SquareFacts(RunFacts, frozen=True, kw_only=True):
    """What covers the images, the share of the image that was asked for, and the mean share that it covers."""

    fill: str
    area: float
    covered: Number


class FillGapFacts(FindingFacts, frozen=True, kw_only=True):
    """The two fills whose squares hide the same pixels."""

    fill: str
    other: str


@dataclass(frozen=True)
class OcclusionAudit(Audit):
    """Accuracy under a square wholly inside the image, at the given covered shares and for the given fills.

    The same square in another fill hides the same pixels: where accuracy differs between fills, the fill itself
    matters, and the fall is not robustness alone (CutOcclusion). With training images (`--train`) also iOcclusion, at
    the same shares in the first fill: the gap between training and test accuracy when covered, by the gap when not.
    `maskings` are the ways of covering for it, any distortions with a share, such as `[occlude, tiles(4), fourier]`
    (default: squares). `validate` asks iOcclusion in every fill and sets beside each other how far the fill alone moves
    the two measures: a measure of robustness should not care what an occluder looks like. With cut-outs of your own
    (`--occluders`) both are asked under these too, at the shares that one of them can cover.

    Further evidence of `validate` rests on what you give. `typical` and `tail`: files of sample ids, one per line, of test
    and of train images; or `judges`: names of other models of the same command, whose doubt is a proxy for rarity.
    `random_labels`: names of models that memorised random labels (drawn with `labels_seed`). Models that have no answer for a
    class of the data are taken as those that never saw it.
    """

    areas: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)
    fills: tuple[Fill, ...] = ("black", "noise")
    maskings: tuple[Any, ...] = ()
    validate: bool = False
    typical: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    random_labels: tuple[str, ...] = ()
    labels_seed: int = 0
    title: ClassVar[str] = "Occlusion (CutOcclusion and iOcclusion)"
    names: ClassVar[tuple[str, ...]] = (
        "cut_occlusion", "occluded_accuracy", "fill_gap", "iocclusion", "mean_iocclusion",
    )  # fmt: skip
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "cut_occlusion": CutOcclusionFacts,
        "occluded_accuracy": SquareFacts,
        "fill_gap": FillGapFacts,
        "iocclusion": IOcclusionFacts,
        "mean_iocclusion": MeanIOcclusionFacts,
        "iocclusion_fill_gap": IOcclusionFillGapFacts,
        "iocclusion_tail_gap": TailGapFacts,
        "iocclusion_random_labels": RandomLabelsFacts,
        "iocclusion_random_gap": RandomGapFacts,
        "interference_without_class": WithoutClassFacts,
    }
    by_default: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.areas or not self.fills:
            raise ValueError("expected at least one area and one fill")
        for area in self.areas:
            expect_within("areas", area, 0, 1)
        for name, values in (("areas", self.areas), ("fills", self.fills)):
            if len(set(values)) < len(values):
                raise ValueError(f"{name} names a value twice: {format_value(values)}")
        # A bare word such as `tiles` is read as the distortion with its defaults.
        object.__setattr__(self, "maskings", parse_each(self.maskings))
        for masking in self.maskings:
            if not covers_a_share(masking):
                raise ValueError(f"expected maskings that cover a share, such as tiles(4), got {masking}")
            for area in self.areas:  # a lattice has few shares: refused here, not while cells are listed
                at_share(masking, area, self.fills[0])
        if not self.validate and (self.typical or self.tail or self.judges or self.random_labels):
            raise ValueError("typical, tail, judges and random_labels are evidence of validate; add validate=true")
        if self.validate:
            if len(self.fills) < 2:
                raise ValueError("validate compares fills; give at least two, such as fills=[black, noise]")
            if (len(self.typical), len(self.tail)) not in ((0, 0), (2, 2)):
                raise ValueError("expected typical and tail as two lists each, typical=[test.txt, train.txt]")
            if self.tail and self.judges:
                raise ValueError("expected either lists of typical and tail images or judges, got both")
            evidence = [*EVIDENCE, *(["iocclusion_random_gap"] if len(self.random_labels) > 1 else [])]
            object.__setattr__(self, "names", (*type(self).names, *evidence))

    def lists(self) -> list[tuple[str, str]]:
        """The files of sample ids, by dataset."""
        return [pair for files in (self.typical, self.tail) for pair in zip(("test", "train"), files)]

    def cells(self, exam: Exam) -> list[Cell]:
        for what, models in (("judges", self.judges), ("random_labels", self.random_labels)):
            for name in models:
                if name not in exam.models:
                    raise unknown(f"model in {what}", name, exam.models)
        if self.judges and not set(exam.models) - {*self.judges, *self.random_labels}:
            raise UserError(
                f"judges [{', '.join(self.judges)}] leave no model that they could judge images for; "
                "add the one that the audit is about, as in mine=models/*.safetensors"
            )
        squares = [exam.cell(Occlude(area, fill)) for fill in self.fills for area in self.areas]
        return (
            squares
            + list(self._cutout_cells(exam))
            + [cell for series in self.cover_series(exam) for cell in series.cells(exam)]
        )

    def cover_series(self, exam: Exam) -> list[CoverSeries]:
        """The ways of covering for iOcclusion: none without training images."""
        if "train" not in exam.classes:
            return []
        fills = self.fills if self.validate else self.fills[:1]
        painted = [masking for masking in self.maskings or (Occlude(),) if not isinstance(masking, Cutouts)]
        series = [CoverSeries(masking, self.areas, fill) for masking in painted for fill in fills]
        if reached := self._coverable(exam):
            series.append(CoverSeries(Cutouts(), reached, "cutout"))
        elif len(painted) < len(self.maskings):  # requested by name: the plan says what is missing
            series.append(CoverSeries(Cutouts(), self.areas, "cutout"))
        return series

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        findings = [
            concluded
            for fill in self.fills
            for concluded in self._curve(answers, fill, self.areas, self._squares(exam, fill))
        ]
        if reached := self._coverable(exam):
            findings += self._curve(answers, "cutout", reached, self._cutout_cells(exam))
        elif exam.cutouts:
            text = f"your cut-outs cover at most {exam.cutouts:.1%} of the image without leaving it; add a smaller area"
            more = {"facts": CutOcclusionFacts(fill="cutout"), **_cut_words("cutout")}
            findings.append(finding("occlusion", "cut_occlusion", answers.model, NO_DATA, text, **more))
        return findings + self._gaps(exam, answers) + self._iocclusion(exam, answers)

    def compare(self, exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
        """The evidence of `validate` that rests on lists, or on other models than the one it is about."""
        if not self.validate:
            return []
        by_name = {answers.model: answers for answers in everyone}
        odd = [name for name in by_name if exam.lost.get(name) and name not in self.random_labels]
        beside = (*self.judges, *self.random_labels, *odd)
        about = [answers for name, answers in by_name.items() if name not in beside]
        evidence: list[Finding] = []
        if first := self.cover_series(exam)[:1]:
            evidence += self._rare(exam, about, first[0], [by_name[name] for name in self.judges])
            memorisers = [by_name[name] for name in self.random_labels]
            evidence += random_labels(exam, memorisers, first[0], self.labels_seed) if memorisers else []
            if not memorisers:
                data = with_option(exam.texts.get("train", "DATA"), "random_labels=1")
                text = NEEDS_RANDOM.format(data=data)
                evidence += [no_evidence("iocclusion_random_labels", answers.model, text) for answers in about]
        squares = [cell for fill in self.fills for cell in self._squares(exam, fill)]
        evidence += [class_removed(exam, by_name[name], about, squares, exam.lost[name]) for name in odd]
        if not odd:
            for answers in about:
                indices = [float(np.nan_to_num(interference_of(exam, answers, cell).index)) for cell in squares]
                worst = squares[int(np.argmax(indices))]
                taker = dominant_in(exam, answers, worst) or "CLASS"
                data = with_option(exam.texts.get("train", "DATA"), f"without={taker}")
                text = NEEDS_REMOVED.format(taker=taker, data=data) if can_dominate(exam, worst) else TOO_FEW
                evidence.append(no_evidence("interference_without_class", answers.model, text))
        return evidence

    def _rare(
        self, exam: Exam, about: Sequence[Answers], series: CoverSeries, judges: Sequence[Answers]
    ) -> list[Finding]:
        """What typical and tail images show, for each model; or what is needed to know which these are."""
        if self.tail:
            roles = list(enumerate(("test", "train")))
            parts = {on: (exam.lists[on, self.typical[i]], exam.lists[on, self.tail[i]]) for i, on in roles}
            typicality = Typicality(parts)
        elif judges:
            typicality = judge_typicality(exam, judges)
        else:
            return [no_evidence("iocclusion_tail_gap", answers.model, NEEDS_PARTS) for answers in about]
        return [tail_gap(exam, answers, series, typicality) for answers in about]

    def _curve(self, answers: Answers, fill: str, areas: Sequence[float], cells: tuple[Cell, ...]) -> list[Finding]:
        """CutOcclusion: the mean accuracy over the covered shares, then each of them."""
        what = "one of your cut-outs" if fill == "cutout" else f"a {fill} square"
        left_out = ", the most they can cover" if len(areas) < len(self.areas) else ""
        blocks = answers.together(*cells)
        curve = np.mean([block.score for block in blocks], axis=0)
        findings = [
            finding(
                "occlusion",
                "cut_occlusion",
                answers.model,
                accuracy(curve, blocks[0].groups),
                f"mean accuracy under {what} of {span(areas)} of the image{left_out}",
                better="higher",
                cells=cells,
                facts=CutOcclusionFacts(fill=fill, **run_facts(curve, blocks[0].groups)),
                per_run=tuple(curve.mean(1).tolist()),
                **_cut_words(fill),
            )
        ]
        for area, cell, block in zip(areas, cells, blocks):
            covered = float(np.nanmean(block.covered)) if len(block.covered) else float("nan")
            text = f"accuracy with {covered:.1%} of the image under {what}"
            words = in_words(str(cell.distortion))
            more = {
                "facts": SquareFacts(fill=fill, area=area, covered=covered),
                "label": f"Accuracy: {words}",
                "topic": words,
            }
            findings.append(
                accuracy_finding("occlusion", "occluded_accuracy", answers.model, block, cell, text, **more)
            )
        return findings

    def _iocclusion(self, exam: Exam, answers: Answers) -> list[Finding]:
        """iOcclusion at every share and, to validate it, what each other fill than the first changes."""
        series = self.cover_series(exam)
        if not series:
            return [no_training_images(name, answers.model) for name in self.names if "iocclusion" in name]
        findings = [concluded for way in series for concluded in way.findings(exam, answers)]
        if self.validate:
            cut: dict[str, float] = {
                fill: float(np.nanmean(answers.mean_score(self._squares(exam, fill)))) for fill in self.fills
            }
            painted = [way for way in series if not isinstance(way.masking, Cutouts)]  # cut-outs have no other fill
            for start in range(0, len(painted), len(self.fills)):
                first, *others = painted[start : start + len(self.fills)]
                findings += [
                    fill_gap(exam, answers, first, other, (cut[first.fill], cut[other.fill])) for other in others
                ]
        return findings

    def _squares(self, exam: Exam, fill: Fill) -> tuple[Cell, ...]:
        return tuple(exam.cell(Occlude(area, fill)) for area in self.areas)

    def _coverable(self, exam: Exam) -> tuple[float, ...]:
        """The shares that cut-outs can cover; none without a pool."""
        return tuple(area for area in self.areas if 0 < area <= exam.cutouts)

    def _cutout_cells(self, exam: Exam) -> tuple[Cell, ...]:
        return tuple(exam.cell(Cutouts(area)) for area in self._coverable(exam))

    def _gaps(self, exam: Exam, answers: Answers) -> list[Finding]:
        """How much the fill alone changes the mean accuracy, for each fill against the first."""
        first, *others = self.fills
        findings = []
        for other in others:
            cells = tuple(exam.cell(Occlude(area, fill)) for fill in (first, other) for area in self.areas)
            blocks = answers.together(*cells)
            half = len(self.areas)
            parts = blocks[:half], blocks[half:]
            score, other_score = (np.mean([block.score for block in part], axis=0) for part in parts)
            findings.append(
                finding(
                    "occlusion",
                    "fill_gap",
                    answers.model,
                    paired_difference(score, other_score, blocks[0].groups),
                    f"mean accuracy under {first} less under {other} squares hiding the very same pixels",
                    unit="difference",
                    cells=cells,
                    facts=FillGapFacts(fill=first, other=other),
                    per_run=tuple((score.mean(1) - other_score.mean(1)).tolist()),
                    label=f"Effect of the fill alone: {first} minus {other}",
                    topic=f"the fill alone ({first} minus {other})",
                )
            )
        return findings


def _cut_words(fill: str) -> dict[str, str]:
    """Label and topic of CutOcclusion under a fill, or under the user's cut-outs."""
    return {"label": f"Accuracy: {covering(fill)} of all sizes", "topic": f"{covering(fill)} of all sizes"}
