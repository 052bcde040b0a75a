"""Confidence: how far it is off, and on which side."""

from __future__ import annotations

import numpy as np

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import alone
from sentence_cases.world import World
from snellen.audits import CalibrationAudit, CleanAudit
from snellen.audits.calibration import CalibrationFacts
from snellen.report.sections.calibration import calibration_sentence


def observe(seed: int) -> ReportRead:
    """A model that is right as often as it is sure, or is too sure or unsure by the same everywhere."""
    random = np.random.default_rng([seed, 6])
    world = World.draw(random)
    gap = random.choice([0.0, 0.0, random.uniform(-0.2, 0.2)])
    sure = random.uniform(max(0.4, 1 / world.classes), 1, len(world))
    share = np.clip(sure - gap, 0.001, 0.999)
    habit = world.habit(random)
    pred = np.where(world.right(random, share), world.labels, world.wrong(random, habit))
    results = alone(world, [CleanAudit(), CalibrationAudit()], {"mine": lambda cell: pred}, confidence=sure)
    ((_, sentence),) = calibration_sentence(results, "mine")
    side = 1 if "too sure" in sentence else -1 if "too unsure" in sentence else 0
    if "not shown" in sentence:
        side = 0
    (error,) = results.having(CalibrationFacts)
    truth = _error(gap, world.classes)
    observations = [Observation("too sure or unsure of itself", side != 0, gap != 0 and side * gap >= 0)]
    if error.low is not None and error.high is not None:
        observations.append(
            Observation("interval of the calibration error", True, error.low - 1e-6 <= truth <= error.high + 1e-6)
        )
    return ReportRead(tuple(observations), world.tags)


def _error(gap: float, classes: int) -> float:
    """The expected calibration error: the same distance in all bins, but for where accuracy would leave 0 to 1."""
    sure = np.linspace(max(0.4, 1 / classes), 1, 200_001)
    distance = sure - np.clip(sure - gap, 0.001, 0.999)
    place = np.ceil(sure * 15).astype(int)
    return float(np.abs(np.bincount(place, distance)).sum() / len(sure))
