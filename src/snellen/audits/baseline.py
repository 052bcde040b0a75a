"""What every run asks first: the clean images, and mild noise as the yardstick of interference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, accuracy_finding
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.notation import text_form


@dataclass(frozen=True)
class Baseline:
    """Accuracy on the images as they are and under mild Gaussian noise (sigma uniform in 0 to 0.025)."""

    title: ClassVar[str] = "Clean images and the noise yardstick"
    names: ClassVar[tuple[str, ...]] = ("accuracy", "noisy_accuracy", "train_accuracy", "noisy_train_accuracy")

    __str__ = text_form

    def cells(self, exam: Exam) -> list[Cell]:
        return [cell for on in exam.classes for cell in (exam.clean(on), exam.yardstick(on))]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        told = []
        for on in exam.classes:
            name = "accuracy" if on == "test" else f"{on}_accuracy"
            for cell, called, how in (
                (exam.clean(on), name, "unmodified"),
                (exam.yardstick(on), f"noisy_{name}", "under mild noise"),
            ):
                text = f"share of {on} images answered rightly, {how}"
                told.append(accuracy_finding("baseline", called, answers.model, answers[cell], text, cell))
        return told
