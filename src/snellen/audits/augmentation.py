"""Augmentations: how far they move data, how hard they are to fit, where they push (Marcu & Prügel-Bennett 2022, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.finding import Finding, finding
from snellen.distort import Mix
from snellen.distort.language import in_words, parse_each
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import affinity, direction, diversity
from snellen.measure.estimate import NO_DATA


class AffinityFacts(FindingFacts, frozen=True, kw_only=True):
    """The deviation over runs."""

    std: Number


class DirectionFacts(FindingFacts, frozen=True, kw_only=True):
    """What runs agree by chance (95% quantile and p), and the `shift` of the share of errors to each of `classes`, with the
    class that gains and that loses most."""

    null95: Number
    p: Number
    towards: str
    away: str
    classes: list[str]
    shift: list[Number]


class DiversityFacts(FindingFacts, frozen=True, kw_only=True):
    """The deviation over runs, what the training loss is against (`majority label` or `as trained`), and the loss on mixed
    images alone where the card has it."""

    std: Number
    loss: str
    mix_diversity: Number | UnsetType = UNSET


@dataclass(frozen=True)
class AugmentationAudit(Audit):
    """Affinity, direction and, from the model's own training, diversity of augmentations.

    `kinds` are any distortions (default: MixUp, CutMix and FMix with partners from the data). Affinity is the change in
    accuracy under one for a model trained without it; direction is which classes gain errors, and whether runs agree
    on that; diversity is the training loss of the model itself, from the history on its card.
    """

    kinds: tuple[Any, ...] = ()
    title: ClassVar[str] = "Augmentations: affinity, diversity, direction"
    names: ClassVar[tuple[str, ...]] = ("affinity", "direction", "diversity")
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "affinity": AffinityFacts,
        "direction": DirectionFacts,
        "diversity": DiversityFacts,
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", parse_each(self.kinds))

    def augmentations(self) -> tuple[Any, ...]:
        """The augmentations to measure."""
        return self.kinds or (Mix("mixup"), Mix("cutmix"), Mix("fmix"))

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.cell(kind) for kind in self.augmentations()]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        findings = [concluded for cell in self.cells(exam) for concluded in _augmentation(exam, answers, cell)]
        return [*findings, _diversity(exam, answers)]


def _augmentation(exam: Exam, answers: Answers, cell: Cell) -> list[Finding]:
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
            unit="difference", cells=(cell,), facts=AffinityFacts(std=gap.std), per_run=tuple(gap.per_run.tolist()),
            label=f"Change of accuracy (affinity): {words}",
        ),
        finding(
            "augmentation", "direction", answers.model, pushed,
            f"agreement of the runs on where {cell.distortion} pushes errors: most to {towards}, away from {away} ({chance})",
            unit="index", cells=(cell,), label=f"Agreement of runs on where errors go (direction): {words}",
            facts=DirectionFacts(
                null95=pushed.null95, p=pushed.p, towards=towards, away=away, classes=list(classes),
                shift=np.round(pushed.shift, 5).tolist(),
            ),
        ),
    ]  # fmt: skip


def _diversity(exam: Exam, answers: Answers) -> Finding:
    """The training loss in the last epoch, against the majority label where the card says that."""
    losses = exam.losses.get(answers.model, ())
    name = next((name for name in ("diversity", "loss") if losses and all(name in of_run for of_run in losses)), None)
    if name is None:
        text = "no training history on the model's card; train it with snellen train to know its training loss"
        return finding(
            "augmentation", "diversity", answers.model, NO_DATA, text, unit="index", label="Training loss (diversity)"
        )
    estimate = diversity([of_run[name] for of_run in losses])
    mixed = [of_run["mix_diversity"] for of_run in losses if "mix_diversity" in of_run]
    facts = DiversityFacts(
        std=estimate.std,
        loss="majority label" if name == "diversity" else "as trained",
        mix_diversity=diversity(mixed).value if len(mixed) == len(losses) else UNSET,
    )
    text = f"training loss of the last epoch ({facts.loss}), from the model's card"
    per_run = tuple(estimate.per_run.tolist())
    return finding(
        "augmentation", "diversity", answers.model, estimate, text, unit="index", facts=facts, per_run=per_run,
        label="Training loss (diversity)",
    )  # fmt: skip
