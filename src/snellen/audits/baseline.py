"""What every run asks first: the clean images, and mild noise as the yardstick of interference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, finding
from snellen.engine.answers import Answers
from snellen.engine.cell import Cell
from snellen.measure import accuracy
from snellen.text import text_form


@dataclass(frozen=True)
class Baseline:
    """Accuracy on the images as they are and under mild Gaussian noise (sigma uniform in 0 to 0.025)."""

    title: ClassVar[str] = "Clean images and the noise yardstick"

    __str__ = text_form

    def cells(self, exam: Exam) -> list[Cell]:
        return [cell for on in exam.classes for cell in (exam.clean(on), exam.yardstick(on))]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        told = []
        for on in exam.classes:
            clean, noisy = answers[exam.clean(on)], answers[exam.yardstick(on)]
            name = "accuracy" if on == "test" else f"{on}_accuracy"
            told.append(
                finding(
                    "baseline",
                    name,
                    answers.model,
                    accuracy(clean.score, clean.groups),
                    f"share of {on} images answered rightly, unmodified",
                    better="higher",
                    cells=(exam.clean(on),),
                    per_run=tuple(clean.score.mean(1).tolist()),
                )
            )
            told.append(
                finding(
                    "baseline",
                    f"noisy_{name}",
                    answers.model,
                    accuracy(noisy.score, noisy.groups),
                    f"share of {on} images answered rightly under mild noise",
                    better="higher",
                    cells=(exam.yardstick(on),),
                    per_run=tuple(noisy.score.mean(1).tolist()),
                )
            )
        return told
