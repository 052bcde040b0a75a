"""Squares: from which size on accuracy is halved, where it is kept, and what the fill alone does."""

from __future__ import annotations

import re

import numpy as np

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import alone
from sentence_cases.world import World
from snellen.audits import CleanAudit, OcclusionAudit
from snellen.engine import Cell
from snellen.report.sections.occlusion import occlusion_sentences

AREAS = (0.1, 0.3, 0.5, 0.7, 0.9)
FILLS = ("black", "noise")


def observe(seed: int) -> ReportRead:
    """Accuracies that fall with the size, one of them often at exactly half; fills that are alike, or not."""
    random = np.random.default_rng([seed, 5])
    world = World.draw(random)
    clean, habit = random.uniform(0.5, 0.95), world.habit(random)
    shares = {fill: np.sort(clean * random.uniform(0.2, 1, len(AREAS)))[::-1] for fill in FILLS}
    for fill in FILLS:
        if random.random() < 0.6:
            shares[fill] = np.maximum(shares[fill], clean / 2)  # at half, from some size on
        if random.random() < 0.2:
            shares[fill] = np.minimum(shares[fill], clean / 2)
    alike = random.random() < 0.6
    shares["noise"] = shares["black"] if alike else shares["noise"]

    def answer(cell: Cell) -> np.ndarray:
        area = getattr(cell.distortion, "area", None)
        share = clean if area is None else shares[cell.distortion.fill][AREAS.index(area)]  # type: ignore[union-attr]
        return np.where(world.right(random, share), world.labels, world.wrong(random, habit))

    audits = [CleanAudit(), OcclusionAudit(AREAS, FILLS)]
    sentences = " ".join(
        sentence for _, sentence in occlusion_sentences(alone(world, audits, {"mine": answer}), "mine")
    )
    observations = [_fill(sentences, shares, alike)]
    for fill in FILLS:
        low = shares[fill] < clean / 2 - 1e-9
        begin = re.search(rf"(\d+)% \({fill}\)", sentences)
        true = bool(begin) and bool(low[AREAS.index(int(begin[1]) / 100)])
        observations.append(
            Observation("accuracy falls below half", begin is not None, true or (not begin and bool(low.any())))
        )
        kept = re.search(r"keeps at least half of it under ([^.]*) squares", sentences)
        observations.append(Observation("accuracy keeps half", bool(kept) and fill in kept[1], not low.any()))
    return ReportRead(tuple(observations), world.tags)


def _fill(sentences: str, shares: dict[str, np.ndarray], alike: bool) -> Observation:
    """The sentence on the fill alone: which of the two is worse."""
    match = re.search(r"The fill alone.*?\((\w+) is worse\)", sentences)
    worse = min(FILLS, key=lambda fill: shares[fill].mean())
    return Observation("the fill alone matters", match is not None, not alike and (match is None or match[1] == worse))
