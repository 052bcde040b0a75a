"""Backgrounds: what exchanging them costs, and whether they suffice alone."""

from __future__ import annotations

import numpy as np

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import alone
from sentence_cases.world import World
from snellen.audits import BackgroundAudit, CleanAudit
from snellen.audits.background_facts import BgGapFacts
from snellen.engine import Cell
from snellen.report.sections.background import background_sentences


def observe(seed: int) -> ReportRead:
    """Backgrounds alone that tell something, nothing, or that get one answer; objects that need theirs or not."""
    random = np.random.default_rng([seed, 7])
    world, audit = World.draw(random), BackgroundAudit(examples=0)
    kind = random.choice(["suffice", "as a constant", "chance", "one answer"])
    told = {
        "suffice": world.guess + (1 - world.guess) * random.uniform(0.1, 0.9),
        "as a constant": world.guess,
        "chance": 1 / world.classes,
        "one answer": world.guess,
    }[kind]
    same, habit = random.uniform(0.5, 0.95), world.habit(random)
    gap = random.choice([0.0, random.uniform(0, 0.4)])
    shares = {"mixed_same": same, "mixed_rand": same - gap, "only_bg_t": told}

    def answer(cell: Cell) -> np.ndarray:
        variant = getattr(cell.distortion, "kind", "original")
        if variant == "only_bg_t" and kind == "one answer":
            return np.full(len(world), np.bincount(world.labels).argmax())
        right = world.right(random, shares.get(variant, 0.7))
        return np.where(right, world.labels, world.wrong(random, habit))

    results = alone(world, [CleanAudit(), audit], {"mine": answer})
    sentences = " ".join(sentence for _, sentence in background_sentences(results, "mine"))
    suffice = "Backgrounds alone suffice" in sentences
    observations = [Observation("backgrounds alone suffice", suffice, told > world.guess)]
    found = next(each for each in results.having(BgGapFacts) if each.name == "bg_gap")
    if found.low is not None and found.high is not None:
        observations.append(Observation("interval of the BG-Gap", True, found.low <= gap <= found.high))
    return ReportRead(tuple(observations), world.tags)
