"""What every run asks first: the clean images, and mild noise as the yardstick of interference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts
from snellen.audits.finding import Finding, accuracy_finding
from snellen.audits.label import WORDS, images_of
from snellen.audits.noise_floor import NoiseFloorFacts, noise_floor
from snellen.audits.run_facts import PixelFacts, pixel_facts
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell


@dataclass(frozen=True)
class BaselineAudit(Audit):
    """Accuracy on the images as they are and under mild Gaussian noise (sigma uniform in 0 to 0.025)."""

    title: ClassVar[str] = "Clean images and the noise yardstick"
    tasks: ClassVar[tuple[str, ...]] = tuple(WORDS)
    names: ClassVar[tuple[str, ...]] = (
        "accuracy",
        "noisy_accuracy",
        "train_accuracy",
        "noisy_train_accuracy",
        "noise_floor",
    )
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        **dict.fromkeys(names, PixelFacts),
        "noise_floor": NoiseFloorFacts,
    }

    def cells(self, exam: Exam) -> list[Cell]:
        return [cell for on in exam.classes for cell in (exam.clean(on), exam.yardstick(on))]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        findings, shown, words_of_task = [], self.cells(exam), WORDS[exam.task]
        for on in exam.classes:
            plain, where = "accuracy" if on == "test" else f"{on}_accuracy", images_of(on)
            for cell, name, how, label, topic in (
                (exam.clean(on), plain, "unmodified", words_of_task.clean, "clean images"),
                (
                    exam.yardstick(on),
                    f"noisy_{plain}",
                    "under mild noise",
                    f"{words_of_task.label} under mild noise",
                    "mild noise",
                ),
            ):
                if cell not in shown or cell not in answers:
                    continue
                block = answers[cell]
                more = {
                    "label": label + where,
                    "topic": topic + where,
                    "facts": PixelFacts(**pixel_facts(block, exam.classes[on])),
                }
                text = f"{words_of_task.right.format(on=on)}, {how}"
                findings.append(accuracy_finding("baseline", name, answers.model, block, cell, text, **more))
        return findings + noise_floor(exam, answers)


@dataclass(frozen=True)
class CleanAudit(BaselineAudit):
    """Accuracy on the images as they are, and nothing else: half the questions, and recorded answers need no noisy images.

    It takes the place of the baseline where no number needs the yardstick.
    """

    title: ClassVar[str] = "Clean images"
    names: ClassVar[tuple[str, ...]] = ("accuracy", "train_accuracy", "noise_floor")

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.clean(on) for on in exam.classes]
