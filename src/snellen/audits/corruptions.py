"""Common corruptions: what noise, blur, weather and compression cost (Hendrycks & Dietterich 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts, Number
from snellen.audits.finding import Finding, accuracy_finding, finding
from snellen.audits.run_facts import RunFacts
from snellen.distort.corruptions import COMMON, CORRUPTIONS, SEVERITIES, Corruption
from snellen.distort.corruptions.constants import Constants, CorruptionKind
from snellen.distort.corruptions.corruption import in_words
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.errors import unknown
from snellen.measure import corruption_error

ALEXNET_CLEAN = 0.435
ALEXNET: Mapping[str, float] = {  # mean errors over the five severities on ImageNet-C, as its makers publish them
    "gaussian_noise": 0.886428,
    "shot_noise": 0.894468,
    "impulse_noise": 0.922640,
    "defocus_blur": 0.819880,
    "glass_blur": 0.826268,
    "motion_blur": 0.785948,
    "zoom_blur": 0.798360,
    "snow": 0.866816,
    "frost": 0.826572,
    "fog": 0.819324,
    "brightness": 0.564592,
    "contrast": 0.853204,
    "elastic_transform": 0.646056,
    "pixelate": 0.717840,
    "jpeg_compression": 0.606500,
}
LARGE = 64  # pixels of a side from which on the constants for 224 px are taken
IMAGENET_CLASSES = 1000


class CorruptedFacts(RunFacts, frozen=True, kw_only=True):
    """Which corruption, and how severe."""

    kind: str
    severity: int


class CorruptionErrorFacts(FindingFacts, frozen=True, kw_only=True):
    """Which corruption, and whose error it is divided by: `alexnet`, or nobody's."""

    kind: str
    reference: str


class MeanErrorFacts(FindingFacts, frozen=True, kw_only=True):
    """Over how many kinds and severities, whose errors they are divided by, and the clean error."""

    kinds: int
    severities: int
    reference: str
    clean_error: Number


@dataclass(frozen=True)
class CorruptionsAudit(Audit):
    """Accuracy under the 15 common corruptions at five severities, and the mean corruption error.

    `kinds` names some of them, or of the four further ones (`speckle_noise`, `gaussian_blur`, `spatter`, `saturate`), and
    `severities` some of 1 to 5. `constants` are those published for ImageNet (`imagenet`) or CIFAR-10 (`cifar`); by default by
    the side of the images, from 64 pixels on the former. Errors are divided by those of a `reference`: AlexNet's published
    ones, by default for images of 1,000 classes with the constants of ImageNet at all severities, else nobody's (`none`).
    """

    kinds: tuple[CorruptionKind, ...] = ()
    severities: tuple[int, ...] = (1, 2, 3, 4, 5)
    constants: Constants | None = None
    reference: Literal["auto", "alexnet", "nobody"] = "auto"
    title: ClassVar[str] = "Common corruptions"
    names: ClassVar[tuple[str, ...]] = (
        "mean_corruption_error",
        "relative_corruption_error",
        "corruption_error",
        "corrupted_accuracy",
    )
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "mean_corruption_error": MeanErrorFacts,
        "relative_corruption_error": MeanErrorFacts,
        "corruption_error": CorruptionErrorFacts,
        "corrupted_accuracy": CorruptedFacts,
    }

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in CORRUPTIONS:
                raise unknown("corruption", str(kind), CORRUPTIONS)
        wrong = [severity for severity in self.severities if not 1 <= severity <= SEVERITIES]
        if wrong or not self.severities:
            raise ValueError(f"expected severities from 1 to {SEVERITIES}, got {list(self.severities)}")
        if self.reference == "alexnet" and (odd := self._beyond_reference()):
            raise ValueError(f"expected what AlexNet's errors are published for with reference=alexnet, got {odd}")

    def _beyond_reference(self) -> str:
        """What no error of AlexNet is published for, if anything."""
        if sorted(self.severities) != list(range(1, SEVERITIES + 1)):
            return f"severities={list(self.severities)}"
        if self.constants == "cifar":
            return "constants=cifar"
        return next((f"kind {kind}" for kind in self.kinds if kind not in ALEXNET), "")

    def _constants(self, exam: Exam) -> Constants:
        return self.constants or ("imagenet" if exam.side >= LARGE else "cifar")

    def _divided_by(self, exam: Exam) -> Mapping[str, float] | None:
        if self.reference == "auto":
            imagenet = self._constants(exam) == "imagenet" and len(exam.classes["test"]) == IMAGENET_CLASSES
            return ALEXNET if imagenet and not self._beyond_reference() else None
        return ALEXNET if self.reference == "alexnet" else None

    def by_kind(self, exam: Exam) -> dict[str, list[Cell]]:
        """The cells of each kind, by severity."""
        constants = self._constants(exam)
        kinds = dict.fromkeys(self.kinds or COMMON)
        severities = sorted(set(self.severities))
        return {
            kind: [exam.cell(Corruption(kind, severity, constants)) for severity in severities]  # type: ignore[arg-type]
            for kind in kinds
        }

    def cells(self, exam: Exam) -> list[Cell]:
        return [cell for cells in self.by_kind(exam).values() for cell in cells]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        by_kind, reference = self.by_kind(exam), self._divided_by(exam)
        blocks = answers.together(exam.clean(), *self.cells(exam))
        clean, scores = blocks[0], iter(block.score for block in blocks[1:])
        corrupted = {kind: [next(scores) for _ in cells] for kind, cells in by_kind.items()}
        errors = corruption_error(clean.score, corrupted, reference, ALEXNET_CLEAN if reference else 0.0, clean.groups)
        whose = "alexnet" if reference else "nobody"
        by_whom = ", over that of AlexNet" if reference else ""
        facts = MeanErrorFacts(
            kinds=len(by_kind),
            severities=len(set(self.severities)),
            reference=whose,
            clean_error=1 - float(clean.score.mean()) if clean.score.size else None,
        )
        unit = "index" if reference else "share"
        findings = [
            finding(
                "corruptions", "mean_corruption_error", answers.model, errors,
                f"mean error over {facts.kinds} corruptions at {facts.severities} severities{by_whom}", better="lower",
                unit=unit, cells=tuple(self.cells(exam)), label=f"Mean corruption error{by_whom}",
                topic="the mean corruption error", facts=facts,
            ),
            finding(
                "corruptions", "relative_corruption_error", answers.model, errors.relative,
                f"mean of what corruptions add to the clean error{by_whom}", better="lower",
                unit="index" if reference else "difference", cells=tuple(self.cells(exam)),
                label=f"What corruptions add to the clean error{by_whom}", topic="what corruptions add", facts=facts,
            ),
        ]  # fmt: skip
        for kind, cells in by_kind.items():
            words = in_words(kind)
            findings.append(
                finding(
                    "corruptions", "corruption_error", answers.model, errors.by_kind[kind],
                    f"error under {words} over its severities{by_whom}", better="lower", unit=unit, cells=tuple(cells),
                    label=f"Error under {words}{by_whom}", topic=f"the error under {words}",
                    facts=CorruptionErrorFacts(kind=kind, reference=whose),
                )
            )  # fmt: skip
            findings += [self._accuracy(answers, kind, cell) for cell in cells]
        return findings

    def _accuracy(self, answers: Answers, kind: str, cell: Cell) -> Finding:
        assert isinstance(cell.distortion, Corruption)
        words = cell.distortion.words()
        return accuracy_finding(
            "corruptions", "corrupted_accuracy", answers.model, answers[cell], cell, f"accuracy under {cell.distortion}",
            label=f"Accuracy: {words}", topic=words, facts=CorruptedFacts(kind=kind, severity=cell.distortion.severity),
        )  # fmt: skip
