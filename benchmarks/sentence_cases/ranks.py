"""Ranks of models under occluders: whether types agree, are proxies of real occlusion, and who lies off the line."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import of_findings
from sentence_cases.world import OF_GROUP, OF_IMAGE, World
from snellen.audits.occluders.ranks import (
    AgreementFacts,
    Judged,
    OcclusionResidualFacts,
    ProxyFacts,
    proxy_findings,
    rank_findings,
    residual_findings,
)
from snellen.audits.occluders.types import REAL
from snellen.engine import Answers
from snellen.report.sections.occluders.ranks import agreement_words

TYPES = (REAL, "black", "white", "noise", "texture")


def observe(seed: int) -> ReportRead:
    """Five to eight models, all equal or of differing skill, whose answers to one image under several types go together."""
    random = np.random.default_rng([seed, 10])
    world = World.draw(random, images=(40, 600))
    count, equal = int(random.integers(5, 9)), random.random() < 0.6
    skill = np.zeros(count) if equal else np.sort(random.normal(0, 0.5, count))
    habit = random.choice([0.0, 0.5])  # of the variance: what a model makes of an image whatever hides it
    own = np.sqrt(habit) * random.normal(size=(count, len(world)))
    correct = []
    for _ in TYPES:
        noise = np.sqrt(1 - habit) * random.normal(size=(count, len(world)))
        correct.append(ndtri(0.6) + skill[:, None] > world.hard + own + noise)
    names = tuple(f"model-{place}" for place in range(count))
    groups = np.arange(len(world)) if world.groups is None else world.groups
    judge = np.repeat(np.array(TYPES, object), len(world))
    judged = Judged("synthetic", 1, names, np.concatenate(correct, 1).astype(float), judge, np.tile(groups, len(TYPES)))
    spread = np.sqrt(1 + OF_GROUP + OF_IMAGE)  # of hardness, habit and luck together
    clean = ndtr((ndtri(0.6) + skill) / spread) + 0.02 * random.normal(size=count)
    findings = [*rank_findings(judged), *proxy_findings([judged]), *residual_findings([judged], clean.tolist())]
    everyone = [Answers(name, ["run-0"], {}, world.exam.classes) for name in names]
    results = of_findings(world, everyone, findings)
    test = next(found.facts for found in results.having(AgreementFacts))
    agrees = agreement_words(test)
    observations = [
        Observation(
            "types agree on the order", agrees.startswith("types agree") and "these images" not in agrees, not equal
        )
    ]
    tau = [found.facts.p_corrected for found in results.having(ProxyFacts)]
    p = [found.facts.p_holm for found in results.having(OcclusionResidualFacts)]
    observations.append(Observation("a type is a proxy of real occlusion", any(_sure(each) for each in tau), not equal))
    observations.append(Observation("a model lies off the line of clean accuracy", any(map(_sure, p)), False))
    return ReportRead(tuple(observations), (*world.tags, "habits" if habit else "no habits"))


def _sure(p: object) -> bool:
    return isinstance(p, float) and p < 0.05
