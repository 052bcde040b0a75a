"""Replies: how often a model that answers in words names no class, in which way, and whether that rises with a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import nan
from typing import ClassVar

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType
from snellen.audits.families import corrected
from snellen.audits.finding import Finding, finding
from snellen.distort.language import in_words
from snellen.engine.keep.read_back import AnswerBlock, Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import accuracy, interference
from snellen.measure.comparison import Comparison, compare

STATES = {  # finding → the state of a reply, as the model's own classes name it
    "outside_replies": "(none of these)",
    "refused_replies": "(refused)",
    "empty_replies": "(no answer)",
    "cut_replies": "(cut off)",
}


class StateFacts(FindingFacts, frozen=True, kw_only=True):
    """The model's protocol, what guessing gets right by it where the right class is one of a few options (`chance`), and how much
    more replies are in this `state` than those to the same images unmodified: `rise`, a difference of shares with its 95%
    interval, p and p after Holm's correction (`corrected_over` which tests). Of unmodified images the rise is not known."""

    state: str
    protocol: str
    chance: Number | UnsetType = UNSET
    rise: Number
    rise_low: Number
    rise_high: Number
    p: Number
    p_corrected: Number
    corrected_over: str


class OutsideFacts(FindingFacts, frozen=True, kw_only=True):
    """The class that takes most new errors where none of the classes counts as one more, and the rise of its share in the
    errors; `outside` says whether it is that one."""

    dominant: str
    outside: bool
    outside_rise: Number


class OrderFacts(FindingFacts, frozen=True, kw_only=True):
    """The two models that differ in the order of their options alone."""

    first: str
    second: str


@dataclass(frozen=True)
class _Rise:
    """How much more replies are in a state than on unmodified images, and the family of tests that its p is corrected over."""

    comparison: Comparison
    p_corrected: float
    family: str


NO_COMPARISON = Comparison(nan, nan, nan, 0, nan, nan)


@dataclass(frozen=True)
class RepliesAudit(Audit):
    """Which share of the replies of a chat model names no class, by state and by every condition that any audit shows.

    It is run wherever a model is a chat model, and asks nothing but the unmodified images. Data interference is measured with
    "none of these" as one more class. Two models that differ in the order of options alone show how much that matters.
    """

    title: ClassVar[str] = "Replies"
    names: ClassVar[tuple[str, ...]] = (*STATES, "outside_interference")
    compared: ClassVar[tuple[str, ...]] = ("order_sensitivity",)
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        **dict.fromkeys(STATES, StateFacts),
        "outside_interference": OutsideFacts,
        "order_sensitivity": OrderFacts,
    }

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.clean()]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        if answers.model not in exam.chats:
            return []
        modified = [cell for cell in answers.cells if cell.on == "test" and exam.modified(cell)]
        findings = [_share(exam, answers, exam.clean(), name) for name in STATES]
        tests = [(cell, name, _compared(exam, answers, cell, name)) for cell in modified for name in STATES]
        family = corrected([test.p for _, _, test in tests], "replies that name no class, by state and condition")
        for (cell, name, test), p in zip(tests, family.p):
            findings.append(_share(exam, answers, cell, name, _Rise(test, p, family.words)))
        return findings + [_outside_interference(exam, answers, cell) for cell in modified]

    def compare(self, exam: Exam, everyone: Sequence[Answers], findings: Sequence[Finding]) -> list[Finding]:
        chats = [answers for answers in everyone if answers.model in exam.chats]
        return [
            _order_sensitivity(exam, first, second)
            for first, second in combinations(chats, 2)
            if _differ_in_order(exam, first.model, second.model)
        ]


def _in_state(exam: Exam, model: str, block: AnswerBlock, name: str) -> np.ndarray:
    """1 where a reply is in the state of a finding, [runs, samples]."""
    numbers = {state: number for number, state in exam.chats[model].states.items()}
    return (block.raw == numbers[STATES[name]]).astype(float)


def _compared(exam: Exam, answers: Answers, cell: Cell, name: str) -> Comparison:
    """How much more replies to a cell are in a state than those to the same images unmodified."""
    clean, block = answers.together(exam.clean(), cell)
    before, after = (_in_state(exam, answers.model, shown, name) for shown in (clean, block))
    test = compare(after, before, clean.groups)
    return (
        test if before.any() or after.any() else replace(test, p=nan)
    )  # no test, so that others are not corrected for it


def _share(exam: Exam, answers: Answers, cell: Cell, name: str, rise: _Rise | None = None) -> Finding:
    """The share of replies to one cell that are in a state, and its rise where the images are not unmodified."""
    block, chat = answers[cell], exam.chats[answers.model]
    where = "unmodified images" if rise is None else in_words(str(cell.distortion))
    change = NO_COMPARISON if rise is None else rise.comparison
    facts = StateFacts(
        state=STATES[name],
        protocol=chat.called,
        chance=UNSET if chat.chance is None else chat.chance,
        rise=change.value,
        rise_low=change.low,
        rise_high=change.high,
        p=change.p,
        p_corrected=nan if rise is None else rise.p_corrected,
        corrected_over="" if rise is None else rise.family,
    )
    return finding(
        "replies", name, answers.model, accuracy(_in_state(exam, answers.model, block, name), block.groups),
        f"share of replies that are {STATES[name]} under {cell.distortion}", better="lower", cells=(cell,),
        facts=facts, label=f"Replies {STATES[name]}: {where}", topic=f"replies {STATES[name]} under {where}",
    )  # fmt: skip


def _outside_interference(exam: Exam, answers: Answers, cell: Cell) -> Finding:
    """The DI of a cell with none of the classes as one more: new errors may all be replies that name none."""
    clean, block = answers.together(exam.clean(), cell)
    names = (*exam.classes[cell.on], "none of these")
    before, after = (np.where(shown.pred < 0, len(names) - 1, shown.pred) for shown in (clean, block))
    di = interference(before, after, clean.labels, len(names), groups=clean.groups)
    rise = float(di.increase[:, -1].mean())
    words = in_words(str(cell.distortion))
    return finding(
        "replies", "outside_interference", answers.model, di,
        f"DI index of {cell.distortion} with 'none of these' as a class", better="lower", unit="index", cells=(cell,),
        facts=OutsideFacts(
            dominant=names[di.dominant] if di.dominant >= 0 else "none",
            outside=di.dominant == len(names) - 1,
            outside_rise=rise,
        ),
        per_run=tuple(di.per_run.tolist()), label=f"New errors on one class or none (DI): {words}",
        topic=f"the DI of {words} with none of these",
    )  # fmt: skip


def _differ_in_order(exam: Exam, first: str, second: str) -> bool:
    left, right = exam.chats[first], exam.chats[second]
    return left.same == right.same and left.protocol == right.protocol == "choice" and left.order != right.order


def _order_sensitivity(exam: Exam, first: Answers, second: Answers) -> Finding:
    """The share of unmodified images that two orders of the options give different answers to."""
    blocks = [answers[exam.clean()] for answers in (first, second)]
    common, rows, others = np.intersect1d(blocks[0].ids.astype(str), blocks[1].ids.astype(str), return_indices=True)
    left, right = blocks[0].at(rows), blocks[1].at(others)
    changed = (left.raw[:1] != right.raw[:1]).astype(float)
    return finding(
        "replies", "order_sensitivity", f"{first.model}, {second.model}", accuracy(changed, left.groups),
        f"share of answers to {len(common)} unmodified images that differ where only the order of options does",
        better="lower", cells=(exam.clean(),), facts=OrderFacts(first=first.model, second=second.model),
        label=f"Answers changed by the order of options: {first.model}, {second.model}",
        topic="answers changed by the order of options",
    )  # fmt: skip
