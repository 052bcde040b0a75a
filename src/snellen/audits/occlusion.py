"""CutOcclusion and iOcclusion: what covering the image costs, and what it does to the train-test gap (paper 000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, accuracy_finding, finding
from snellen.audits.interplay import Interplay, covers_a_share, fill_gap, missing
from snellen.distort import Cutouts, Occlude, parse
from snellen.distort.fills import Fill
from snellen.engine.answers import Answers
from snellen.engine.cell import Cell
from snellen.measure import accuracy, paired_difference
from snellen.measure.estimate import NO_DATA
from snellen.text import text_form


@dataclass(frozen=True)
class Occlusion:
    """Accuracy under a square wholly inside the image, at the given covered shares and for the given fills.

    The same square in another fill hides the same pixels: where accuracy differs between fills, the fill itself
    matters, and the fall is not robustness alone (CutOcclusion). With training images (`--train`) also iOcclusion, at
    the same shares in the first fill: the gap between training and test accuracy when covered, by the gap when not.
    `maskings` are the ways of covering for it, any distortions with a share, such as `[occlude, tiles(4), fourier]`
    (default: squares). `validate` asks iOcclusion in every fill and sets beside each other how far the fill alone moves
    the two measures: a measure of robustness should not care what an occluder looks like. With cut-outs of your own
    (`--occluders`) both are asked under these too, at the shares that one of them can cover.
    """

    areas: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)
    fills: tuple[Fill, ...] = ("black", "noise")
    maskings: tuple[Any, ...] = ()
    validate: bool = False
    title: ClassVar[str] = "Occlusion (CutOcclusion and iOcclusion)"
    names: ClassVar[tuple[str, ...]] = ("cut_occlusion", "occluded_accuracy", "fill_gap", "iocclusion")

    __str__ = text_form

    def __post_init__(self) -> None:
        if not self.areas or not self.fills:
            raise ValueError("expected at least one area and one fill")
        # A bare word such as `tiles` is read as the distortion with its defaults.
        object.__setattr__(self, "maskings", tuple(map(parse, self.maskings)))
        for masking in self.maskings:
            if not covers_a_share(masking):
                raise ValueError(f"expected maskings that cover a share, such as tiles(4), got {masking}")
        if self.validate:
            if len(self.fills) < 2:
                raise ValueError("validate compares fills; give at least two, such as fills=[black, noise]")
            object.__setattr__(self, "names", (*type(self).names, "iocclusion_fill_gap"))

    def cells(self, exam: Exam) -> list[Cell]:
        squares = [exam.cell(Occlude(area, fill)) for fill in self.fills for area in self.areas]
        return squares + list(self._pasted(exam)) + [cell for one in self.interplays(exam) for cell in one.cells(exam)]

    def interplays(self, exam: Exam) -> list[Interplay]:
        """What iOcclusion is asked for: nothing without training images."""
        if "train" not in exam.classes:
            return []
        fills = self.fills if self.validate else self.fills[:1]
        painted = [one for one in self.maskings or (Occlude(),) if not isinstance(one, Cutouts)]
        asked = [Interplay(masking, self.areas, fill) for masking in painted for fill in fills]
        if reached := self._reached(exam):
            asked.append(Interplay(Cutouts(), reached, "cutout"))
        elif len(painted) < len(self.maskings):  # asked for by name: the plan says what is missing
            asked.append(Interplay(Cutouts(), self.areas, "cutout"))
        return asked

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        told = [one for fill in self.fills for one in self._curve(answers, fill, self.areas, self._squares(exam, fill))]
        if reached := self._reached(exam):
            told += self._curve(answers, "cutout", reached, self._pasted(exam))
        elif exam.cutouts:
            text = f"your cut-outs cover at most {exam.cutouts:.1%} of the image without leaving it; add a smaller area"
            told.append(finding("occlusion", "cut_occlusion", answers.model, NO_DATA, text, facts={"fill": "cutout"}))
        return told + self._gaps(exam, answers) + self._interplay(exam, answers)

    def _curve(self, answers: Answers, fill: str, areas: Sequence[float], cells: tuple[Cell, ...]) -> list[Finding]:
        """CutOcclusion: the mean accuracy over the covered shares, then each of them."""
        what = "one of your cut-outs" if fill == "cutout" else f"a {fill} square"
        left_out = ", the most they can cover" if len(areas) < len(self.areas) else ""
        blocks = answers.together(*cells)
        curve = np.mean([block.score for block in blocks], axis=0)
        told = [
            finding(
                "occlusion",
                "cut_occlusion",
                answers.model,
                accuracy(curve, blocks[0].groups),
                f"mean accuracy under {what} of {areas[0]:g} to {areas[-1]:g} of the image{left_out}",
                better="higher",
                cells=cells,
                facts={"fill": fill},
                per_run=tuple(curve.mean(1).tolist()),
            )
        ]
        for area, cell, block in zip(areas, cells, blocks):
            covered = float(np.nanmean(block.covered)) if len(block.covered) else float("nan")
            text = f"accuracy with {covered:.1%} of the image under {what}"
            facts = {"fill": fill, "area": area, "covered": covered}
            told.append(accuracy_finding("occlusion", "occluded_accuracy", answers.model, block, text, cell, **facts))
        return told

    def _interplay(self, exam: Exam, answers: Answers) -> list[Finding]:
        """iOcclusion at every share and, to validate it, what each other fill than the first changes."""
        asked = self.interplays(exam)
        if not asked:
            return [missing(name, answers.model) for name in self.names if name.startswith("iocclusion")]
        told = [found for one in asked for found in one.findings(exam, answers)]
        if self.validate:
            cut: dict[str, float] = {
                fill: float(np.nanmean(answers.mean_score(self._squares(exam, fill)))) for fill in self.fills
            }
            painted = [one for one in asked if not isinstance(one.masking, Cutouts)]  # cut-outs have no other fill
            for one in range(0, len(painted), len(self.fills)):
                first, *others = painted[one : one + len(self.fills)]
                told += [fill_gap(exam, answers, first, two, (cut[first.fill], cut[two.fill])) for two in others]
        return told

    def _squares(self, exam: Exam, fill: Fill) -> tuple[Cell, ...]:
        return tuple(exam.cell(Occlude(area, fill)) for area in self.areas)

    def _reached(self, exam: Exam) -> tuple[float, ...]:
        """The shares that cut-outs can cover; none without a pool."""
        return tuple(area for area in self.areas if 0 < area <= exam.cutouts)

    def _pasted(self, exam: Exam) -> tuple[Cell, ...]:
        return tuple(exam.cell(Cutouts(area)) for area in self._reached(exam))

    def _gaps(self, exam: Exam, answers: Answers) -> list[Finding]:
        """How much the fill alone changes the mean accuracy, for each fill against the first."""
        first, *others = self.fills
        told = []
        for other in others:
            cells = tuple(exam.cell(Occlude(area, fill)) for fill in (first, other) for area in self.areas)
            blocks = answers.together(*cells)
            half = len(self.areas)
            one, two = (np.mean([b.score for b in part], axis=0) for part in (blocks[:half], blocks[half:]))
            told.append(
                finding(
                    "occlusion",
                    "fill_gap",
                    answers.model,
                    paired_difference(one, two, blocks[0].groups),
                    f"mean accuracy under {first} less under {other} squares hiding the very same pixels",
                    unit="difference",
                    cells=cells,
                    facts={"fill": first, "other": other},
                    per_run=tuple((one.mean(1) - two.mean(1)).tolist()),
                )
            )
        return told
