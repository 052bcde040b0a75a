"""A report without a run folder: planted answers through the real audits, sections and verdicts, in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from sentence_cases.world import World
from snellen.atomic import encode_json
from snellen.audits import Audit, Finding
from snellen.engine import AnswerBlock, Answers, Cell
from snellen.exam.conclude import conclude
from snellen.report.findings_table import finding_rows
from snellen.report.guessing import CONSTANT, Guess
from snellen.report.results import AnyFinding, Results
from snellen.report.table import FindingRow
from snellen.report.verdict import Verdict, at_chance, between, verdict_of

Answerer = Callable[[Cell], np.ndarray]  # the answers of one run to a cell, int [n]


@dataclass(frozen=True)
class StandIn(Results):
    """The results of planted answers; what sections would read in a run folder is counted here."""

    everyone: tuple[Answers, ...] = ()
    labels: Counter[int] = field(default_factory=Counter)

    @property
    def task(self) -> str:
        return "classification"

    def guess(self, *about: Any) -> Guess:
        """All findings are about all images."""
        (label, most), names = self.labels.most_common(1)[0], self.everyone[0].classes["test"]
        constant, chance = most / self.labels.total(), 1 / len(names)
        return Guess(chance, constant, names[label] if constant > chance else "")

    def constant_answer(self, finding: AnyFinding) -> str:
        own = next(answers for answers in self.everyone if answers.model == finding.model)
        counts: Counter[int] = Counter()
        for cell, block in own._blocks.items():
            if str(cell.distortion) in finding.distortions:
                counts.update(block.pred.ravel().tolist())
        (pred, most) = counts.most_common(1)[0]
        return f"'{own.classes['test'][pred]}' to most images" if most >= CONSTANT * counts.total() else ""

    def rows(self) -> list[FindingRow]:
        """The rows of the table of findings."""
        return [row for rows in finding_rows(self).values() for row in rows]

    def verdict(self, model: str) -> Verdict:
        return verdict_of(self, model)

    def between(self) -> list[str]:
        """What is said between the models."""
        return between(self.rows(), at_chance(self))


def block_of(
    world: World, pred: np.ndarray, confidence: np.ndarray | None = None, covered: float = np.nan
) -> AnswerBlock:
    """The answers of runs [runs, n] to the images of a world."""
    pred = np.atleast_2d(pred)
    score = (pred == world.labels).astype(np.float32)
    sure = score if confidence is None else np.atleast_2d(confidence).astype(np.float32)
    share = np.full(len(world), covered, np.float32)
    valid, ids = np.ones(len(world), bool), np.array(world.ids, object)
    return AnswerBlock(pred, pred, score, sure, score, world.labels, share, valid, ids, world.groups)


def answers_of(
    world: World, model: str, cells: Sequence[Cell], answer: Answerer, confidence: np.ndarray | None = None
) -> Answers:
    """What a model answers to some cells."""
    blocks = {}
    for cell in cells:
        area = getattr(cell.distortion, "area", np.nan)
        blocks[cell] = block_of(world, answer(cell), confidence, area if isinstance(area, float) else np.nan)
    runs = [f"run-{number}" for number in range(next(iter(blocks.values())).pred.shape[0])] if blocks else ["run-0"]
    return Answers(model, runs, blocks, world.exam.classes)


def alone(world: World, audits: Sequence[Audit], models: Mapping[str, Answerer], **more: Any) -> StandIn:
    """The report of audits without interference, which costs the most, nor differences between models."""
    cells = list(dict.fromkeys(cell for audit in audits for cell in audit.cells(world.exam)))
    everyone = [answers_of(world, model, cells, answer, **more) for model, answer in models.items()]
    findings = [found for answers in everyone for audit in audits for found in audit.conclude(world.exam, answers)]
    return of_findings(world, everyone, findings)


def report(world: World, audits: Sequence[Audit], models: Mapping[str, Answerer], **more: Any) -> StandIn:
    """The report of audits that ask nothing but cells."""
    cells = list(dict.fromkeys(cell for audit in audits for cell in audit.cells(world.exam)))
    everyone = [answers_of(world, model, cells, answer, **more) for model, answer in models.items()]
    return concluded(world, audits, everyone)


def concluded(world: World, audits: Sequence[Audit], everyone: Sequence[Answers]) -> StandIn:
    """The report of answers that are there."""
    prepared: Any = SimpleNamespace(audits=audits, exam=world.exam)
    return of_findings(world, everyone, conclude(prepared, everyone))


def of_findings(world: World, everyone: Sequence[Answers], findings: Sequence[Finding]) -> StandIn:
    """The report of findings that were concluded otherwise."""
    content = {
        "models": {answers.model: list(answers.runs) for answers in everyone},
        "findings": [finding.to_json() for finding in findings],
    }
    folder: Any = None  # nothing is read from it
    stored = json.loads(encode_json(content))
    return StandIn(stored, {}, folder, tuple(everyone), Counter(world.labels.tolist()))
