"""Between models: who is clearly better on what, and what the data could have shown."""

from __future__ import annotations

import re

import numpy as np

from sentence_cases.marks import Pulled
from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import StandIn, report
from sentence_cases.world import World
from snellen.audits import BaselineAudit, CalibrationAudit, InterferenceAudit
from snellen.audits.model_differences import DifferenceFacts
from snellen.cli.printing import _is_clear as starred

NEAR = 1.25  # times what is stated: true differences up to it tell whether the statement holds
LEAD = re.compile(r"(\S+) (?:is clearly better|has clearly other numbers) on (.+?)(?:\.|, but its clean accuracy)")


def observe(seed: int) -> ReportRead:
    """Two to four models, equal but for some in which one is better or worse everywhere."""
    random = np.random.default_rng([seed, 3])
    world = World.draw(random, classes=(3, 5, 10))
    audits = [BaselineAudit(), InterferenceAudit(("shuffle(4)",)), CalibrationAudit()]
    texts = [str(cell.distortion) for cell in audits[1].cells(world.exam)]
    first = Pulled.draw(world, random, texts)
    models = {"model-0": first}
    first.pull[texts[0]] = random.choice([0.0, random.uniform(0.1, 0.6)])
    equal, same_pull = random.random() < 0.5, random.random() < 0.5
    for number in range(1, int(random.integers(2, 5))):
        lead = 0.0 if equal else random.uniform(-0.2, 0.2)
        share = {text: float(np.clip(value + lead, 0.05, 0.98)) for text, value in first.share.items()}
        pull = first.pull if same_pull else {text: random.choice([0.0, value]) for text, value in first.pull.items()}
        models[f"model-{number}"] = Pulled(world, share, pull, first.to, dict(first.habit), random)
    confidence = random.uniform(0.3, 1, len(world))
    results = report(world, audits, models, confidence=confidence)
    observations = [*_leads(results, models), *_differences(results, models)]
    return ReportRead(tuple(observations), world.tags)


def _leads(results: StandIn, models: dict[str, Pulled]) -> list[Observation]:
    """The sentences on leaders; false if there is a topic on which the leader is better than none of the others."""
    said = [match for sentence in results.between() if (match := LEAD.match(sentence))]
    topics = {row.topic: row.first.distortions[0] for row in results.rows() if row.first.unit == "share"}
    false = [
        topic
        for match in said
        for topic in topics
        if topic in match[2] and not _leads_on(models, match[1], topics[topic], topic)
    ]
    some_equal = any(
        not any(_leads_on(models, model, text, topic) for model in models) for topic, text in topics.items()
    )
    observations = []
    if some_equal or false:
        observations.append(Observation("a model is clearly better", bool(false), False))
    return observations


def _leads_on(models: dict[str, Pulled], best: str, text: str, topic: str) -> bool:
    """Whether a model is truly better than every other."""
    if topic == "calibration":  # |confidence − accuracy| is the same for equal models only
        return len({model.share["none()"] for model in models.values()}) > 1
    return all(models[best].share[text] > model.share[text] for name, model in models.items() if name != best)


def _differences(results: StandIn, models: dict[str, Pulled]) -> list[Observation]:
    """Every paired difference: the word in its text, the star in the terminal, and what would mostly have been shown."""
    observations, false, star = [], False, False
    some_equal = False
    for finding in results.having(DifferenceFacts):
        facts, text = finding.facts, finding.distortions[0]
        true = models[facts.first].share[text] - models[facts.second].share[text]
        clear = ": clearly different" in finding.text
        some_equal |= true == 0
        false |= clear and (true == 0 or (finding.value or 0) * true < 0)
        star |= starred(finding) and true == 0
        if facts.detectable is not None and true and facts.detectable <= abs(true) <= NEAR * facts.detectable:
            observations.append(Observation("difference that would mostly be seen", clear, True, True))
    if some_equal:
        observations.append(Observation("two models clearly differ", false, False))
        observations.append(Observation("star in the terminal", star, False))
    return observations
