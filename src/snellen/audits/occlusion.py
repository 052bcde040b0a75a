"""CutOcclusion: how accuracy falls as one square covers more of the image (paper 000, section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, accuracy_finding, finding
from snellen.distort import Occlude
from snellen.distort.fills import Fill
from snellen.engine.answers import Answers
from snellen.engine.cell import Cell
from snellen.measure import accuracy, paired_difference
from snellen.text import text_form


@dataclass(frozen=True)
class Occlusion:
    """Accuracy under a square wholly inside the image, at the given covered shares and for the given fills.

    The same square in another fill hides the same pixels: where accuracy differs between fills, the fill itself
    matters, and the fall is not robustness alone.
    """

    areas: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)
    fills: tuple[Fill, ...] = ("black", "noise")
    title: ClassVar[str] = "Occlusion by a square (CutOcclusion)"
    names: ClassVar[tuple[str, ...]] = ("cut_occlusion", "occluded_accuracy", "fill_gap")

    __str__ = text_form

    def __post_init__(self) -> None:
        if not self.areas or not self.fills:
            raise ValueError("expected at least one area and one fill")

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.cell(Occlude(area, fill)) for fill in self.fills for area in self.areas]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        told = []
        for fill in self.fills:
            cells = tuple(exam.cell(Occlude(area, fill)) for area in self.areas)
            blocks = answers.together(*cells)
            curve = np.mean([block.score for block in blocks], axis=0)
            told.append(
                finding(
                    "occlusion",
                    "cut_occlusion",
                    answers.model,
                    accuracy(curve, blocks[0].groups),
                    f"mean accuracy under a {fill} square of {self.areas[0]:g} to {self.areas[-1]:g} of the image",
                    better="higher",
                    cells=cells,
                    facts={"fill": fill},
                    per_run=tuple(curve.mean(1).tolist()),
                )
            )
            for area, cell, block in zip(self.areas, cells, blocks):
                covered = float(np.nanmean(block.covered)) if len(block.covered) else float("nan")
                text = f"accuracy with {covered:.1%} of the image under a {fill} square"
                facts = {"fill": fill, "area": area, "covered": covered}
                told.append(
                    accuracy_finding("occlusion", "occluded_accuracy", answers.model, block, text, cell, **facts)
                )
        return told + self._gaps(exam, answers)

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
