"""Evidence for iOcclusion: where CutOcclusion moves although robustness does not, it should stay.

Rare against typical images, by lists of ids or judged by other models; networks that memorised random labels; and networks
that never saw the class that squares are taken for (Marcu & Prügel-Bennett 2022, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.facts import FindingFacts, Number
from snellen.audits.finding import Finding, finding
from snellen.audits.iocclusion import IOCCLUSION_LABELS, CoverSeries, MovedFacts, cover_scores, describe_move, moved
from snellen.data.subset import draw_labels
from snellen.engine.keep.read_back import AnswerBlock, Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import Covered, iocclusion, iocclusion_gap, mean_iocclusion
from snellen.measure.estimate import NO_DATA

KNOWN = 0.9  # of its random labels that a network should have memorised
Parts = Mapping[str, tuple[frozenset[str], frozenset[str]]]  # by dataset the ids of typical and of tail images


class TailGapFacts(MovedFacts, frozen=True, kw_only=True):
    """How many images are typical and rare, of which of them the gap is `unclear`, and whether `judges` made a proxy."""

    typical_train: int
    typical_test: int
    tail_train: int
    tail_test: int
    unclear: str = ""
    proxy: bool
    judges: str


class RandomLabelsFacts(FindingFacts, frozen=True, kw_only=True):
    """The deviation over runs, CutOcclusion beside it, and the share of the random labels that was memorised."""

    std: Number
    cut_occlusion: Number
    train_accuracy: Number
    labels_seed: int


class RandomGapFacts(MovedFacts, frozen=True, kw_only=True):
    """The model whose iOcclusion is subtracted."""

    other: str


@dataclass(frozen=True)
class Typicality:
    """Which images are typical and which are rare, and how that is known; `judges` made a proxy, none means lists."""

    parts: Parts
    judges: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        if not self.judges:
            return "by your lists"
        return f"by a PROXY: the halves of images whose label {', '.join(self.judges)} find more and less probable"


def judge_typicality(exam: Exam, judges: Sequence[Answers]) -> Typicality:
    """A proxy: the halves of images whose label other models find more and less probable, mean over all their runs."""
    parts = {}
    for on in ("train", "test"):
        clean = [judge[exam.clean(on)] for judge in judges]
        shared = sorted(set.intersection(*(set(block.ids) for block in clean)))
        sure = np.mean([_in_order(block, shared).label_prob.mean(0) for block in clean], axis=0)
        order = np.argsort(sure, kind="stable")
        tail, typical = (frozenset(shared[i] for i in rows) for rows in np.array_split(order, 2))
        parts[on] = typical, tail
    return Typicality(parts, tuple(judge.model for judge in judges))


def tail_gap(exam: Exam, answers: Answers, series: CoverSeries, typicality: Typicality) -> Finding:
    """iOcclusion of typical less that of tail images; CutOcclusion, the accuracy left, beside it."""
    typical, tail = (_part(exam, answers, series, typicality.parts, part) for part in (0, 1))
    gap = iocclusion_gap(typical, tail, shared=False)
    cut = _cut(typical), _cut(tail)
    gapless = " and ".join(
        name for name, value in (("typical", gap.first), ("tail", gap.second)) if not np.isfinite(value)
    )
    count: dict[str, Any] = {
        f"{name}_{on}": len(typicality.parts[on][part])
        for part, name in enumerate(("typical", "tail"))
        for on in typicality.parts
    }
    text = (
        f"mean iOcclusion of typical less that of tail images, {typicality.source}: {describe_move(gap, cut, gapless)}"
    )
    unclear = [name for name, side in (("typical", typical), ("tail", tail)) if not _gap_is_clear(side)]
    if unclear and not gapless:
        text += f"; of {' and '.join(unclear)} images the gap without covering is not clearly there, so its ratio says little"
    facts = TailGapFacts(
        **moved(gap, cut),
        **count,
        unclear=", ".join(unclear),
        proxy=bool(typicality.judges),
        judges=", ".join(typicality.judges),
    )
    per_run = tuple(gap.per_run.tolist())
    label = IOCCLUSION_LABELS["iocclusion_tail_gap"]
    if typicality.judges:
        label += f" (proxy: rare by the doubt of {facts.judges})"
    return finding(
        "occlusion", "iocclusion_tail_gap", answers.model, gap, text, unit="index", cells=_cells(exam, series),
        facts=facts, per_run=per_run, label=label, topic="iOcclusion of typical minus rare images",
    )  # fmt: skip


def random_labels(exam: Exam, everyone: Sequence[Answers], series: CoverSeries, seed: int) -> list[Finding]:
    """iOcclusion of networks that memorised random labels, and how far the first two trainings are apart in both measures."""
    rows = {sample: i for i, sample in enumerate(exam.samples["train"].ids)}
    random = draw_labels(exam.samples["train"], len(exam.classes["train"]), 1, seed)

    def with_random_labels(block: AnswerBlock, on: str) -> AnswerBlock:
        if on == "test":
            return block
        labels = random[[rows[sample] for sample in block.ids]]
        return replace(block, labels=labels, score=(block.pred == labels).astype(np.float32))

    sides = [cover_scores(exam, answers, series, with_random_labels) for answers in everyone]
    findings = []
    for answers, side in zip(everyone, sides):
        mean, train_accuracy = mean_iocclusion(side), float(np.asarray(side.train).mean())
        doubt = (
            ""
            if train_accuracy >= KNOWN
            else f"; it knows only {train_accuracy:.0%} of these labels: train longer, or another labels_seed"
        )
        text = f"mean iOcclusion after memorising random labels, CutOcclusion {_cut(side):.1%}{doubt}"
        facts = RandomLabelsFacts(
            std=mean.std, cut_occlusion=_cut(side), train_accuracy=train_accuracy, labels_seed=seed
        )
        findings.append(
            finding(
                "occlusion", "iocclusion_random_labels", answers.model, mean, text, unit="index",
                cells=_cells(exam, series), facts=facts, per_run=tuple(mean.per_run.tolist()),
                label=IOCCLUSION_LABELS["iocclusion_random_labels"],
            )
        )  # fmt: skip
    for answers, side in zip(everyone[1:], sides[1:]):
        same = all(
            np.shape(own) == np.shape(first)
            for own, first in ((side.train, sides[0].train), (side.test, sides[0].test))
        )
        gap, cut = iocclusion_gap(side, sides[0], shared=same), (_cut(side), _cut(sides[0]))
        names = f"{answers.model} less that of {everyone[0].model}"
        text = f"mean iOcclusion of {names}, both of random labels: {describe_move(gap, cut)}"
        findings.append(
            finding(
                "occlusion", "iocclusion_random_gap", answers.model, gap, text, unit="index",
                cells=_cells(exam, series), facts=RandomGapFacts(**moved(gap, cut), other=everyone[0].model),
                label=f"{IOCCLUSION_LABELS['iocclusion_random_gap']}, minus that of {everyone[0].model}",
            )
        )  # fmt: skip
    return findings


def no_evidence(name: str, model: str, text: str) -> Finding:
    """The finding in the place of evidence that is missing: nothing measured, and how to get it."""
    label = IOCCLUSION_LABELS.get(name, "New errors on one class (DI), without the dominant class")
    return finding("occlusion", name, model, NO_DATA, text, unit="index", label=label)


def with_option(data: str, option: str) -> str:
    """A data text with one more option."""
    return f"{data}{'&' if '?' in data else '?'}{option}"


def _part(exam: Exam, answers: Answers, series: CoverSeries, parts: Parts, part: int) -> Covered:
    def select(block: AnswerBlock, on: str) -> AnswerBlock:
        return block.at(np.flatnonzero([sample in parts[on][part] for sample in block.ids]))

    return cover_scores(exam, answers, series, select)


def _gap_is_clear(side: Covered) -> bool:
    """Whether the interval of train less test accuracy, not covered, leaves 0 out."""
    ratio = iocclusion(side.train, side.test, side.train_occluded[0], side.test_occluded[0], side.groups)
    return ratio.gap_low > 0 or ratio.gap_high < 0


def _cut(side: Covered) -> float:
    """CutOcclusion: the mean accuracy on covered test images."""
    scores = np.asarray(side.test_occluded, np.float64)
    return float(scores.mean()) if scores.size else float("nan")


def _cells(exam: Exam, series: CoverSeries) -> tuple[Cell, ...]:
    return tuple(exam.cell(distortion, on) for distortion in series.distortions for on in ("test", "train"))


def _in_order(block: AnswerBlock, ids: Sequence[str]) -> AnswerBlock:
    row = {sample: i for i, sample in enumerate(block.ids)}
    return block.at(np.array([row[sample] for sample in ids], int))
