"""Row loss: how much accuracy black rows cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from snellen.audits import Audit, Exam, Finding
from snellen.audits.finding import finding
from snellen.engine import Answers, Cell
from snellen.measure import compare
from snellen_example.distortions import Scanlines


@dataclass(frozen=True)
class RowLossAudit(Audit):
    """Accuracy that is lost where rows of the images are black, for each spacing of `every`."""

    every: tuple[int, ...] = (2, 8)
    title: ClassVar[str] = "Black rows"
    names: ClassVar[tuple[str, ...]] = ("row_loss",)

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.cell(Scanlines(every)) for every in self.every]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        return [self._loss(exam, answers, cell, every) for cell, every in zip(self.cells(exam), self.every)]

    def _loss(self, exam: Exam, answers: Answers, cell: Cell, every: int) -> Finding:
        clean, lined = answers.together(exam.clean(), cell)
        loss = compare(clean.score, lined.score, clean.groups)  # paired: the same images
        return finding(
            "row_loss",
            "row_loss",
            answers.model,
            loss,
            f"accuracy on clean images less that with 1 row of {every} black",
            better="lower",
            unit="difference",
            cells=(cell,),
            facts={"every": every},
            label=f"Accuracy lost to 1 black row of {every}",
        )
