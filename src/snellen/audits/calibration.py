"""Calibration: whether a model is right as often as it is sure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.finding import Finding, finding
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import calibration_error, paired_difference


class CalibrationFacts(FindingFacts, frozen=True, kw_only=True):
    """Per bin of confidence, all 0 to 1: the `share` of the answers that are in it, their mean confidence and accuracy.

    `plug_in` is the error by the published formula, to which noise adds; runs before it was kept have it as their value. `excess`
    is mean confidence less accuracy, with its 95% interval; runs before it was kept have none.
    """

    bins: int
    share: list[Number]
    confidence: list[Number]
    accuracy: list[Number]
    plug_in: Number | UnsetType = UNSET
    excess: Number | UnsetType = UNSET
    excess_low: Number | UnsetType = UNSET
    excess_high: Number | UnsetType = UNSET


@dataclass(frozen=True)
class CalibrationAudit(Audit):
    """How far confidence is from accuracy on unmodified images, over `bins` of equal width (Guo et al. 2017)."""

    bins: int = 15
    title: ClassVar[str] = "Calibration"
    names: ClassVar[tuple[str, ...]] = ("calibration_error",)
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "calibration_error": CalibrationFacts,
    }

    def __post_init__(self) -> None:
        if not 1 <= self.bins <= 1000:
            raise ValueError(f"expected bins from 1 to 1000, got {self.bins}")

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.clean()]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        clean = answers[exam.clean()]
        confidence = clean.confidence.clip(0, 1)
        error = calibration_error(confidence, clean.score, self.bins, clean.groups)
        excess = paired_difference(confidence, clean.score, clean.groups)
        facts = CalibrationFacts(
            bins=self.bins,
            share=error.share.tolist(),
            confidence=error.confidence.tolist(),
            accuracy=error.accuracy.tolist(),
            plug_in=error.plug_in,
            excess=excess.value,
            excess_low=excess.low,
            excess_high=excess.high,
        )
        text = "mean distance of accuracy from confidence on unmodified test images (ECE), corrected for noise"
        words = {"label": "Distance of confidence from accuracy (calibration error)", "topic": "calibration"}
        per_run = tuple(error.per_run.tolist())
        return [
            finding(
                "calibration", "calibration_error", answers.model, error, text, better="lower", cells=(exam.clean(),),
                facts=facts, per_run=per_run, **words,
            )
        ]  # fmt: skip
