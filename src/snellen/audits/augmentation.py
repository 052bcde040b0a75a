"""Augmentations: how far they move data, how hard they are to fit, where they push (Marcu & Prügel-Bennett 2022, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, finding
from snellen.distort import Mix
from snellen.distort.language import parse_each
from snellen.distort.words import in_words
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import affinity, direction, diversity
from snellen.measure.estimate import NO_DATA


@dataclass(frozen=True)
class Augmentation(Audit):
    """Affinity, direction and, from the model's own training, diversity of augmentations.

    `kinds` are any distortions (default: MixUp, CutMix and FMix with partners from the data). Affinity is the change in
    accuracy under one for a model trained without it; direction is which classes gain errors, and whether runs agree
    on that; diversity is the training loss of the model itself, from the history on its card.
    """

    kinds: tuple[Any, ...] = ()
    title: ClassVar[str] = "Augmentations: affinity, diversity, direction"
    names: ClassVar[tuple[str, ...]] = ("affinity", "direction", "diversity")

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", parse_each(self.kinds))

    def augmentations(self) -> tuple[Any, ...]:
        """The augmentations to measure."""
        return self.kinds or (Mix("mixup"), Mix("cutmix"), Mix("fmix"))

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.cell(kind) for kind in self.augmentations()]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        findings = [one for cell in self.cells(exam) for one in _of_one(exam, answers, cell)]
        return [*findings, _diversity(exam, answers)]


def _of_one(exam: Exam, answers: Answers, cell: Cell) -> list[Finding]:
    """The affinity and the direction of one augmentation."""
    clean, augmented = answers.together(exam.clean(), cell)
    classes, words = exam.classes[cell.on], in_words(str(cell.distortion))
    gap = affinity(clean.score, augmented.score, clean.groups)
    pushed = direction(clean.pred, augmented.pred, clean.labels, len(classes))
    is_finite = bool(np.isfinite(pushed.shift).all())
    towards, away = (classes[int(at)] if is_finite else "" for at in (pushed.shift.argmax(), pushed.shift.argmin()))
    chance = "one run: nothing to agree with" if len(answers.runs) == 1 else f"by chance up to {pushed.null95:.2f}"
    return [
        finding(
            "augmentation", "affinity", answers.model, gap,
            f"accuracy under {cell.distortion} less accuracy without; higher is not better in itself",
            unit="difference", cells=(cell,), facts={"std": gap.std}, per_run=tuple(gap.per_run.tolist()),
            label=f"Affinity under {words}",
        ),
        finding(
            "augmentation", "direction", answers.model, pushed,
            f"agreement of the runs on where {cell.distortion} pushes errors: most to {towards}, away from {away} ({chance})",
            unit="index", cells=(cell,), label=f"Direction under {words}",
            facts={
                "null95": pushed.null95, "p": pushed.p, "towards": towards, "away": away, "classes": list(classes),
                "shift": np.round(pushed.shift, 5).tolist(),
            },
        ),
    ]  # fmt: skip


def _diversity(exam: Exam, answers: Answers) -> Finding:
    """The training loss in the last epoch, against the majority label where the card says that."""
    losses = exam.losses.get(answers.model, ())
    name = next((name for name in ("diversity", "loss") if losses and all(name in one for one in losses)), None)
    if name is None:
        text = "no training history on the model's card; train it with snellen train to know its training loss"
        return finding("augmentation", "diversity", answers.model, NO_DATA, text, unit="index", label="Diversity")
    estimate = diversity([one[name] for one in losses])
    facts: dict[str, Any] = {"std": estimate.std, "loss": "majority label" if name == "diversity" else "as trained"}
    if all("mix_diversity" in one for one in losses):
        facts["mix_diversity"] = diversity([one["mix_diversity"] for one in losses]).value
    text = f"training loss of the last epoch ({facts['loss']}), from the model's card"
    per_run = tuple(estimate.per_run.tolist())
    return finding(
        "augmentation", "diversity", answers.model, estimate, text, unit="index", facts=facts, per_run=per_run,
        label="Diversity",
    )  # fmt: skip
