"""Delivery: whether answers depend on how a picture is sent, beside what changes when the same picture is sent again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts, Number
from snellen.audits.families import corrected
from snellen.audits.finding import Finding, accuracy_finding, finding
from snellen.audits.run_facts import RunFacts
from snellen.distort import parse
from snellen.distort.language import in_words, parse_each
from snellen.engine.keep.read_back import AnswerBlock, Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import accuracy
from snellen.measure.comparison import Comparison, compare

DELIVERIES = ("jpeg(95)", "jpeg(75)", "jpeg(50)", "rescale(0.5)", "rescale(0.25)")
AGAIN = "again()"


class ChangedFacts(FindingFacts, frozen=True, kw_only=True):
    """How many more answers a delivery changes than sending the same pixels again: `beyond`, a difference of shares of the same
    images with its 95% interval, p and p after Holm's correction (`corrected_over` which tests). `worse` and `better` are the
    shares of all answers that were right and became wrong, and the reverse."""

    beyond: Number
    beyond_low: Number
    beyond_high: Number
    p: Number
    p_corrected: Number
    corrected_over: str
    worse: Number
    better: Number


@dataclass(frozen=True)
class DeliveryAudit(Audit):
    """Which share of the answers changes when a picture is sent as JPEG or at another size, beside the noise floor.

    The noise floor is the share that changes when the same pixels are sent once more: 0 for a network, above it for a service
    that varies. `deliveries` names other distortions, such as `[jpeg(30), rescale(0.1)]`.
    """

    deliveries: tuple[Any, ...] = ()
    title: ClassVar[str] = "Delivery"
    names: ClassVar[tuple[str, ...]] = ("changed_again", "answers_changed", "delivered_accuracy")
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "changed_again": FindingFacts,
        "answers_changed": ChangedFacts,
        "delivered_accuracy": RunFacts,
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "deliveries", parse_each(self.deliveries))

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.clean(), self.control(exam), *self.delivered(exam)]

    def control(self, exam: Exam) -> Cell:
        """The same pixels, sent again."""
        return exam.cell(parse(AGAIN))

    def delivered(self, exam: Exam) -> list[Cell]:
        """The cells of the ways of delivery, each once."""
        return [exam.cell(delivery) for delivery in dict.fromkeys(self.deliveries or parse_each(DELIVERIES))]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        control, cells = self.control(exam), self.delivered(exam)
        beyond = [_beyond_the_floor(exam, answers, control, cell) for cell in cells]
        family = corrected(
            [comparison.p for comparison in beyond], "answers changed beyond the noise floor, by delivery"
        )
        findings = [_floor(exam, answers, control)]
        for cell, comparison, p in zip(cells, beyond, family.p):
            words = in_words(str(cell.distortion))
            findings += [
                _change(exam, answers, cell, comparison, p, family.words),
                accuracy_finding(
                    "delivery", "delivered_accuracy", answers.model, answers[cell], cell,
                    f"accuracy of pictures sent as {cell.distortion}", label=f"Accuracy as sent: {words}", topic=words,
                ),
            ]  # fmt: skip
        return findings


def _floor(exam: Exam, answers: Answers, control: Cell) -> Finding:
    clean, again = answers.together(exam.clean(), control)
    estimate = accuracy(_changed(clean, again), clean.groups)
    text = "share of answers that change when the same pixels are sent again"
    return finding(
        "delivery", "changed_again", answers.model, estimate, text, better="lower", cells=(control,),
        label="Answers changed on the same pixels (noise floor)", topic="the noise floor",
    )  # fmt: skip


def _beyond_the_floor(exam: Exam, answers: Answers, control: Cell, cell: Cell) -> Comparison:
    """The share of answers that a delivery changes less that of the same pixels again, image by image."""
    clean, again, sent = answers.together(exam.clean(), control, cell)
    return compare(_changed(clean, sent), _changed(clean, again), clean.groups)


def _change(exam: Exam, answers: Answers, cell: Cell, beyond: Comparison, p_corrected: float, family: str) -> Finding:
    """The share of answers that a delivery changes, with what is beyond the noise floor."""
    clean, sent = answers.together(exam.clean(), cell)
    words = in_words(str(cell.distortion))
    facts = ChangedFacts(
        beyond=beyond.value,
        beyond_low=beyond.low,
        beyond_high=beyond.high,
        p=beyond.p,
        p_corrected=p_corrected,
        corrected_over=family,
        worse=_mean(clean.score > sent.score),
        better=_mean(clean.score < sent.score),
    )
    return finding(
        "delivery", "answers_changed", answers.model, accuracy(_changed(clean, sent), clean.groups),
        f"share of answers that change when pictures are sent as {cell.distortion}", better="lower", cells=(cell,),
        facts=facts, label=f"Answers changed: {words}", topic=f"answers changed by {words}",
    )  # fmt: skip


def _changed(first: AnswerBlock, second: AnswerBlock) -> np.ndarray:
    """1 where the model's own class differs, so that a refusal is another answer than a word outside the classes."""
    return (first.raw != second.raw).astype(float)


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else float("nan")
