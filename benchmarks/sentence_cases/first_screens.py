"""First screens: under what a model clearly loses accuracy, and how much it may lose unseen."""

from __future__ import annotations

import numpy as np

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import alone
from sentence_cases.world import World
from snellen.audits import Audit, CleanAudit, Exam, Finding
from snellen.audits.finding import accuracy_finding
from snellen.distort import parse
from snellen.engine import Answers, Cell
from snellen.report.first_screen import model_verdict

GRIDS = (2, 3, 4, 5, 8, 16)


class PlainAccuracies(Audit):
    """The accuracies of the audit `interference` without the DI, which costs the most time."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.cell(parse(text)) for text in self.texts]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        return [
            accuracy_finding("interference", "distorted_accuracy", answers.model, answers[cell], cell, "")
            for cell in self.cells(exam)
        ]


def observe(seed: int) -> ReportRead:
    """One to six modifications, of which all, some or none cost accuracy."""
    random = np.random.default_rng([seed, 12])
    world = World.draw(random)
    tried = tuple(f"shuffle({grid})" for grid in GRIDS[: random.integers(1, len(GRIDS) + 1)])
    clean, habit = random.uniform(0.3, 0.97), world.habit(random)
    costly = random.random(len(tried)) < random.choice([0.0, 0.3, 1.0])
    lost = {str(parse(text)): cost * clean * random.uniform(0.02, 0.8) for text, cost in zip(tried, costly)}

    def answer(cell: Cell) -> np.ndarray:
        right = world.right(random, clean - lost.get(str(cell.distortion), 0.0))
        return np.where(right, world.labels, world.wrong(random, habit))

    results = alone(world, [CleanAudit(), PlainAccuracies(tried)], {"mine": answer})
    verdict = model_verdict(results, "mine", guesses=False)
    truth = [(loss, lost[loss.finding.distortions[0]]) for loss in verdict.losses]
    said = "clearly loses" in " ".join(verdict.sentences)
    named = [true for loss, true in truth if loss.is_clear]
    assert said == bool(named)
    observations = [
        Observation("a modification clearly costs accuracy", said, costly.any() and all(named)),
        *(Observation("bounds of a loss", True, loss.low <= true <= loss.high) for loss, true in truth),
    ]
    return ReportRead(tuple(observations), world.tags)
