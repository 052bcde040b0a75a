"""Leads that may be artefacts: to the loser a distortion looks like a class, more than to the leader."""

from __future__ import annotations

import numpy as np

from sentence_cases.marks import Pulled
from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import report
from sentence_cases.world import World
from snellen.audits import BaselineAudit, InterferenceAudit

BEST, OTHER = "leader", "other"


def observe(seed: int) -> ReportRead:
    """Two models of which one leads; the distortion pulls the errors of both alike, or those of the other alone."""
    random = np.random.default_rng([seed, 4])
    world = World.draw(random, classes=(3, 5, 10), images=(150, 2000))
    audits = [BaselineAudit(), InterferenceAudit(("shuffle(4)",))]
    (text,) = (str(cell.distortion) for cell in audits[1].cells(world.exam))
    leader = Pulled.draw(world, random, [text])
    pulled = random.uniform(0.15, 0.6)
    alike = random.random() < 0.6
    leader.share[text], leader.pull[text] = random.uniform(0.4, 0.7), pulled if alike else 0.0
    share = {**leader.share, text: leader.share[text] - 0.2}
    habit = {name: world.habit(random) for name in leader.habit}
    other = Pulled(world, share, {**leader.pull, text: pulled}, leader.to, habit, random)
    said = report(world, audits, {BEST: leader, OTHER: other}).between()
    claimed = any(f"That {BEST} leads {OTHER} on" in sentence for sentence in said)
    return ReportRead((Observation("a lead may be an artefact", claimed, not alike),), world.tags)
