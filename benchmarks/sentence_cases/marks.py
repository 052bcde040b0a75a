"""Marks of interference (▲, △, ? and none), the verdict on what to trust, and the warning about the yardstick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import StandIn, report
from sentence_cases.world import World
from snellen.audits import BaselineAudit, InterferenceAudit
from snellen.audits.exam import YARDSTICK
from snellen.audits.interference import InterferenceFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.engine import Cell
from snellen.measure.interference_chance import NEGLIGIBLE


@dataclass(frozen=True)
class Pulled:
    """A model that is right with a chance, and of whose errors a part goes to one class, by the text of the distortion."""

    world: World
    share: dict[str, float]
    pull: dict[str, float]
    to: int
    habit: dict[str, np.ndarray]
    random: np.random.Generator

    @classmethod
    def draw(cls, world: World, random: np.random.Generator, texts: list[str]) -> Pulled:
        """Some distortions pull, often none; mild noise now and then."""
        clean = random.uniform(0.5, 0.95)
        share = {text: clean * random.uniform(0.3, 0.95) for text in texts}
        pulls = random.random() < 0.5
        pull = {text: random.uniform(0.1, 0.6) if pulls and random.random() < 0.5 else 0.0 for text in texts}
        share[str(YARDSTICK)], pull[str(YARDSTICK)] = clean * 0.95, random.choice([0.0, 0.0, 0.2])
        share["none()"], pull["none()"] = clean, 0.0
        own = world.habit(random)  # in half of the worlds videos are taken for other classes once they are distorted
        habit = {text: world.habit(random) if random.random() < 0.5 else own for text in share}
        return cls(world, share, pull, int(random.integers(world.classes)), habit, random)

    def __call__(self, cell: Cell) -> np.ndarray:
        text = str(cell.distortion)
        right = self.world.right(self.random, self.share[text])
        wrong = self.world.wrong(self.random, self.habit[text], self.pull[text], self.to)
        return np.where(right, self.world.labels, wrong)

    def index(self, text: str) -> float:
        """The true DI: only one class rises, by what is pulled to it and was not there."""
        count = self.world.classes
        own = float((self.world.labels == self.to).mean())
        return count * self.pull[text] * (1 - own) * (1 - 1 / (count - 1))


def observe(seed: int) -> ReportRead:
    random = np.random.default_rng([seed, 2])
    world = World.draw(random, classes=(3, 5, 10))
    audits = [BaselineAudit(), InterferenceAudit()]
    texts = [str(cell.distortion) for cell in audits[1].cells(world.exam)]
    model = Pulled.draw(world, random, texts)
    results = report(world, audits, {"mine": model})
    return ReportRead((*_by_mark(results, model), *_verdict(results, model)), world.tags)


def _by_mark(results: StandIn, model: Pulled) -> list[Observation]:
    """Every index with its mark: what the legend says of it, and the class that is named beside it."""
    observations = []
    noise, name = model.index(str(YARDSTICK)), model.world.names[model.to]
    for finding in results.having(InterferenceFacts):
        trust, text = finding.interference, finding.distortions[0]
        if trust is None:
            continue
        truth = model.index(text)
        above = truth > noise and truth > 0
        if text != str(YARDSTICK):
            observations.append(Observation("▲ above chance and mild noise", trust.mark == "flagged", above))
            observations.append(Observation("no mark: clearly not", trust.mark == "", truth <= max(noise, NEGLIGIBLE)))
        observations.append(Observation("△ or ▲ above chance", trust.mark in ("raised", "flagged"), truth > 0))
        if trust.taken_for and truth > 0:
            observations.append(Observation("class that takes the new errors", True, trust.taken_for == name))
        observations += _seen(finding, truth)
    return observations


def _seen(finding: StoredFinding[InterferenceFacts], truth: float) -> list[Observation]:
    """Whether an index as large as the finding says it could see is told from chance."""
    reach = finding.facts.detectable
    if reach is None or not truth or truth < reach:
        return []
    return [Observation("DI that would mostly be seen", "cannot be told from chance" not in finding.text, True, True)]


def _verdict(results: StandIn, model: Pulled) -> list[Observation]:
    """What the card says of all distortions together, and of mild noise."""
    noise = model.index(str(YARDSTICK))
    others = [model.index(text) for text in model.pull if text not in ("none()", str(YARDSTICK))]
    verdict = results.verdict("mine")
    said = "more than under mild noise" in verdict.trust or "Drops marked" in verdict.trust
    return [
        Observation("some drop may be an artefact", said, any(truth > noise for truth in others)),
        Observation("mild noise pushes errors to a class", "Mild noise itself" in verdict.yardstick, noise > 0),
    ]
