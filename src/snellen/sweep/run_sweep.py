"""Carrying a sweep out: train what is missing, ask what is missing, and read the table off the answers.

Networks lie in `<out>/models/<point>/`, answers in `<out>/runs/<point>-on-<test>-<key>/`, where the key is that of the
weights, the data and the label map: a sweep that was stopped, or is given more points, runs or tests, does the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from snellen.atomic import write_atomic
from snellen.data.dataset import Dataset, limited
from snellen.hashing import key_of
from snellen.report.pages.sweep_result import SweepRow
from snellen.sweep.ask_point import Asking, fingerprints
from snellen.sweep.image_cache import CachedImages, room
from snellen.sweep.points import SweepPlan, SweepPoint
from snellen.sweep.scores import SweepScores, accuracy_of, gap_between, read_scores, unseen_mean
from snellen.train.loop import Progress
from snellen.train.runs import train


@dataclass(frozen=True)
class SweepCallbacks:
    """Called during a sweep: `say` what is done next, `epoch` of the training under way, `point` the rows after each point."""

    say: Callable[[str], None] = lambda text: None
    epoch: Callable[[Progress], None] = lambda progress: None
    notice: Callable[[str], None] = lambda text: None
    point: Callable[[Sequence[SweepRow]], None] = lambda rows: None


@dataclass(frozen=True)
class Left:
    """How many trainings and audits a sweep consists of, and how many of them are still to be done."""

    trainings: int
    trainings_left: int
    audits: int
    audits_left: int


def run_points(plan: SweepPlan, callbacks: SweepCallbacks) -> list[SweepRow]:
    """The rows of the table, one per point, test and measure."""
    tests = {name: limited(data, plan.limit) for name, data in plan.tests.items()}
    if len(plan.points) > 1:
        cache = CachedImages(room())
        tests = {name: cache.dataset(data) for name, data in tests.items()}
    rows: list[SweepRow] = []
    for number, point in enumerate(plan.points, 1):
        callbacks.say(f"{number} of {len(plan.points)}: {point.name}")
        models = _models(plan, point, callbacks)
        scores = _ask(plan, point, models, tests, callbacks)
        values = [accuracy_of(name, data, scores[name]) for name, data in tests.items()]
        for pair in plan.gaps:
            first, second = ((name, tests[name], scores[name]) for name in pair)
            values.append(gap_between(first, second))
        unseen = {name: (tests[name], own) for name, own in scores.items() if name != plan.source}
        if plan.source is not None and unseen:
            values.append(unseen_mean(unseen))
        rows += [value.of(point) for value in values]
        callbacks.point(rows)
    return rows


def left(plan: SweepPlan) -> Left:
    """What is still to be done; nothing is written."""
    trained = [(point, checkpoints(plan, point)) for point in plan.points if point.data is not None]
    missing = sum(not path.exists() for _, paths in trained for path in paths)
    there = [point for point in plan.points if point.model is not None]
    there += [point for point, paths in trained if all(path.exists() for path in paths)]
    done = 0
    for point in there:
        models = [str(path) for path in checkpoints(plan, point)] if point.data is not None else [str(point.model)]
        prints = fingerprints(point.name, models)
        for name, data in plan.tests.items():
            folder = run_folder(plan, point, prints, name, limited(data, plan.limit))
            done += (folder / "findings.json").exists()
    audits = len(plan.points) * len(plan.tests)
    return Left(sum(len(paths) for _, paths in trained), missing, audits, audits - done)


def checkpoints(plan: SweepPlan, point: SweepPoint) -> list[Path]:
    """Where the networks of a point are, or will be."""
    seeds = [replace(plan.recipe, seed=plan.recipe.seed + run) for run in range(plan.runs)]
    return [plan.out / "models" / point.name / f"{recipe.name}.safetensors" for recipe in seeds]


def run_folder(plan: SweepPlan, point: SweepPoint, prints: Sequence[str], test: str, data: Dataset) -> Path:
    """Where the answers of a point, whose runs have these fingerprints, on some data are, or will be."""
    key = key_of(
        [list(prints), data.fingerprint, point.coarse and {k: list(v) for k, v in point.coarse.items()}, plan.rule]
    )
    return plan.out / "runs" / f"{point.name}-on-{test}-{key[:8]}"


def label_file(plan: SweepPlan, point: SweepPoint) -> Path | None:
    """Where the label map of a point is, if it has one."""
    return None if point.coarse is None else plan.out / "labels" / f"{point.name}.json"


def _models(plan: SweepPlan, point: SweepPoint, callbacks: SweepCallbacks) -> list[str]:
    """The texts of a point's runs, trained where they are missing."""
    if point.data is None:
        return [str(point.model)]
    if point.ids is not None:
        write_atomic(ids_file(plan, point), "\n".join(point.ids).encode() + b"\n")
    folder = plan.out / "models" / point.name
    paths = train(
        plan.recipe,
        point.data,
        folder,
        plan.runs,
        device=plan.device,
        progress=callbacks.epoch,
        notice=callbacks.notice,
    )
    return [str(path) for path in paths]


def ids_file(plan: SweepPlan, point: SweepPoint) -> Path:
    """Where the ids of a point's subset are stored."""
    return plan.out / "ids" / f"{point.name}.txt"


def _ask(
    plan: SweepPlan, point: SweepPoint, models: Sequence[str], tests: Mapping[str, Dataset], callbacks: SweepCallbacks
) -> dict[str, SweepScores]:
    """The scores of a point on each test; the model is run only where answers are missing."""
    labels = label_file(plan, point)
    if labels is not None and point.coarse is not None:
        label_map = {"rule": plan.rule, "classes": {coarse: list(fine) for coarse, fine in point.coarse.items()}}
        write_atomic(labels, json.dumps(label_map, indent=1, ensure_ascii=False).encode())
    asking = Asking(point.name, models, plan.device, labels)
    prints = fingerprints(point.name, models)
    scores: dict[str, SweepScores] = {}
    for name, data in tests.items():
        callbacks.say(f"asking {point.name} about {name}")
        scores[name] = read_scores(asking.about(data, run_folder(plan, point, prints, name, data)), data)
    return scores
