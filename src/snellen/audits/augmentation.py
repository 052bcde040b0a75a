"""Augmentations: how far they move the data, how hard they are to fit, and which way they push (paper 000, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, finding
from snellen.distort import Mix, parse
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import affinity, direction, diversity
from snellen.measure.estimate import NO_DATA
from snellen.notation import text_form


@dataclass(frozen=True)
class Augmentation:
    """Affinity, direction and, from the model's own training, diversity of augmentations.

    `kinds` are any distortions (default: MixUp, CutMix and FMix with partners from the data). Affinity is the change in
    accuracy under one for a model trained without it; direction is which classes gain errors, and whether runs agree
    on that; diversity is the training loss of the model itself, from the history on its card.
    """

    kinds: tuple[Any, ...] = ()
    title: ClassVar[str] = "Augmentations: affinity, diversity, direction"
    names: ClassVar[tuple[str, ...]] = ("affinity", "direction", "diversity")
    by_default: ClassVar[bool] = False

    __str__ = text_form

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(map(parse, self.kinds)))

    def chosen(self) -> tuple[Any, ...]:
        """The augmentations that are asked for."""
        return self.kinds or (Mix("mixup"), Mix("cutmix"), Mix("fmix"))

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.cell(kind) for kind in self.chosen()]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        told = [found for cell in self.cells(exam) for found in _of_one(exam, answers, cell)]
        return [*told, _diversity(exam, answers)]


def _of_one(exam: Exam, answers: Answers, cell: Cell) -> list[Finding]:
    """The affinity and the direction of one augmentation."""
    clean, augmented = answers.together(exam.clean(), cell)
    classes = exam.classes[cell.on]
    gap = affinity(clean.score, augmented.score, clean.groups)
    pushed = direction(clean.pred, augmented.pred, clean.labels, len(classes))
    seen = bool(np.isfinite(pushed.shift).all())
    towards, away = (classes[int(at)] if seen else "" for at in (pushed.shift.argmax(), pushed.shift.argmin()))
    agreed = "one run: nothing to agree with" if len(answers.runs) == 1 else f"by chance up to {pushed.null95:.2f}"
    return [
        finding(
            "augmentation", "affinity", answers.model, gap,
            f"accuracy under {cell.distortion} less accuracy without; higher is not better in itself",
            unit="difference", cells=(cell,), facts={"std": gap.std}, per_run=tuple(gap.per_run.tolist()),
        ),
        finding(
            "augmentation", "direction", answers.model, pushed,
            f"agreement of the runs on where {cell.distortion} pushes errors: most to {towards}, away from {away} ({agreed})",
            unit="index", cells=(cell,),
            facts={
                "null95": pushed.null95, "p": pushed.p, "towards": towards, "away": away, "classes": list(classes),
                "shift": np.round(pushed.shift, 5).tolist(),
            },
        ),
    ]  # fmt: skip


def _diversity(exam: Exam, answers: Answers) -> Finding:
    """The training loss in the last epoch, against the majority label where the card says that."""
    held = exam.losses.get(answers.model, ())
    name = next((name for name in ("diversity", "loss") if held and all(name in one for one in held)), None)
    if name is None:
        text = "no training history on the model's card; train it with snellen train to know its training loss"
        return finding("augmentation", "diversity", answers.model, NO_DATA, text, unit="index")
    measured = diversity([one[name] for one in held])
    facts: dict[str, Any] = {"std": measured.std, "loss": "majority label" if name == "diversity" else "as trained"}
    if all("mix_diversity" in one for one in held):
        facts["mix_diversity"] = diversity([one["mix_diversity"] for one in held]).value
    text = f"training loss of the last epoch ({facts['loss']}), from the model's card"
    per_run = tuple(measured.per_run.tolist())
    return finding(
        "augmentation", "diversity", answers.model, measured, text, unit="index", facts=facts, per_run=per_run
    )
