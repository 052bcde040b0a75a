"""Unmodified images: whether a model is above guessing, how sure its accuracy is, and what checks warn of."""

from __future__ import annotations

import numpy as np

from sentence_cases.observation import Observation, ReportRead
from sentence_cases.stand_in import answers_of, concluded
from sentence_cases.world import World
from snellen.audits import CleanAudit
from snellen.checks import CleanAnswers, doubts_about
from snellen.checks.classes import class_order
from snellen.checks.preprocessing import Preprocessing, fits_better
from snellen.report.sections.baseline import clean_sentence


def observe(seed: int) -> ReportRead:
    """One model: good, no better than a constant answer, constant or at chance; and the checks of its answers."""
    random = np.random.default_rng([seed, 1])
    world = World.draw(random)
    observations = [*_sentence(random, world), *_stated(random, world), *_order(random, world)]
    return ReportRead((*observations, *_ways(random, world)), world.tags)


def _sentence(random: np.random.Generator, world: World) -> list[Observation]:
    """The sentence on clean accuracy of a model whose chance of being right is the same for all images."""
    kind = random.choice(["good", "as a constant", "chance", "constant"])
    share = {
        "good": world.guess + (1 - world.guess) * random.uniform(0.1, 0.9),
        "as a constant": world.guess,
        "chance": 1 / world.classes,
        "constant": world.guess,
    }[kind]
    pred = np.where(world.right(random, share), world.labels, world.wrong(random, world.habit(random)))
    if kind == "constant":
        pred = np.full(len(world), np.bincount(world.labels).argmax())
    answers = answers_of(world, "mine", [world.exam.clean()], lambda cell: pred)
    results = concluded(world, [CleanAudit()], [answers])
    ((_, sentence),) = clean_sentence(results, "mine")
    clean = results.clean("mine")
    doubts = {doubt.name for doubt in doubts_about(answers, world.exam.clean(), {})}
    above = share > world.guess
    observations = [
        Observation("clean accuracy above guessing", "not clearly above" not in sentence, above),
        Observation("no warning of chance level", not doubts & {"chance_level", "unrelated_labels"}, above),
    ]
    if kind != "constant" and clean and clean.low is not None and clean.high is not None:
        observations.append(Observation("interval of accuracy", True, clean.low <= share <= clean.high))
    return observations


def _clean(world: World, pred: np.ndarray, stated: float | None = None) -> CleanAnswers:
    sure = np.full(len(world), 0.95)
    return CleanAnswers("'mine'", "mine", pred, world.labels, sure, world.names, stated, world.groups)


def _stated(random: np.random.Generator, world: World) -> list[Observation]:
    """A card that states the true accuracy."""
    share = random.uniform(0.3, 0.95)
    pred = np.where(world.right(random, share), world.labels, world.wrong(random, world.habit(random)))
    answers = answers_of(world, "mine", [world.exam.clean()], lambda cell: pred)
    doubts = {doubt.name for doubt in doubts_about(answers, world.exam.clean(), {"run-0": share})}
    return [Observation("accuracy below what the card states", "below_stated" in doubts, False)]


def _order(random: np.random.Generator, world: World) -> list[Observation]:
    """Classes in their order, and in another one."""
    share = random.uniform(1 / world.classes, 0.95)
    pred = np.where(world.right(random, share), world.labels, world.wrong(random, world.habit(random)))
    renamed = share > 0.6 and random.random() < 0.5
    if renamed:
        pred = (pred + 1) % world.classes
    return [Observation("classes in another order", class_order(_clean(world, pred)) is not None, renamed)]


def _ways(random: np.random.Generator, world: World) -> list[Observation]:
    """Five ways of preparing images by which a model is as often right as by its own."""
    share = random.uniform(0.2, 0.9)
    own, *others = (world.right(random, share).astype(float) for _ in range(6))
    ways = {Preprocessing(str(number), "", lambda images: images): scores for number, scores in enumerate(others)}
    return [
        Observation(
            "another preprocessing fits better", fits_better("mine", own, ways, world.groups) is not None, False
        )
    ]
