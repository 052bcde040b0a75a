"""People beside a model: the gaps that are bold."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import of_findings
from sentence_cases.world import OF_GROUP, OF_IMAGE, World
from snellen.audits.occluders.people import Crowd, HumanGapFacts, people_findings
from snellen.engine import Answers
from snellen.measure.occlusion_table import CLEAN
from snellen.report.sections.occluders.people import _gap

SKILL = 0.2  # how far people differ, beside images


def observe(seed: int) -> ReportRead:
    """Three to twelve people who see every image, and a model that is as good as people are, or not."""
    random = np.random.default_rng([seed, 11])
    world = World.draw(random, images=(20, 300))
    people, share = int(random.integers(3, 13)), random.uniform(0.5, 0.9)
    gap = float(random.choice([0.0, 0.0, random.uniform(-0.2, 0.2)]))
    skills = ndtri(share) * np.sqrt(1 + SKILL**2) + SKILL * random.normal(size=people)
    luck = np.sqrt(1 - OF_GROUP - OF_IMAGE) * random.normal(size=(people, len(world)))
    right = skills[:, None] > world.hard + luck
    size = people * len(world)
    columns = {
        "observer": np.repeat([f"person-{number}" for number in range(people)], len(world)).tolist(),
        "sample": [f"{CLEAN}/{sample}" for sample in world.ids] * people,
        "label": [1] * size, "answer": right.ravel().astype(int).tolist(), "level": [0] * size, "kind": [CLEAN] * size,
        "hit": [float("nan")] * size,
    }  # fmt: skip
    if world.groups is not None:
        columns["group"] = world.groups.tolist() * people
    crowd = Crowd(columns, {CLEAN: ("none",)}, None if world.groups is None else "group")
    model = world.right(random, float(np.clip(share - gap, 0.01, 0.99))).astype(float)
    scores = {"mine": dict(zip(columns["sample"], model.tolist()))}
    results = of_findings(world, [Answers("mine", ["run-0"], {}, world.exam.classes)], people_findings(crowd, scores))
    found = results.having(HumanGapFacts)[0]
    true = share - float(np.clip(share - gap, 0.01, 0.99))
    clear = _gap(found).bold
    return ReportRead(
        (Observation("people and model clearly differ", clear, true * (found.value or 0) > 0),), world.tags
    )
