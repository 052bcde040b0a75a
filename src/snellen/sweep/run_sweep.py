"""Carrying a sweep out: train what is missing, ask what is missing, and read the table off the answers.

Networks lie in `<out>/models/<point>/`, answers in `<out>/runs/<point>-on-<test>-<key>/`, where the key is that of the
weights, the data and the label map: a sweep that was stopped, or is given more points, runs or tests, does the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from snellen.atomic import write_atomic
from snellen.data.dataset import Dataset, limited
from snellen.hashing import key_of
from snellen.sweep.ask_point import Asking, fingerprints
from snellen.sweep.image_cache import CachedImages, room
from snellen.sweep.points import Plan, Point
from snellen.sweep.scores import Scores, accuracy_row, gap_row, read_scores, unseen_row
from snellen.train.loop import Progress
from snellen.train.runs import train


@dataclass(frozen=True)
class Callbacks:
    """Called during a sweep: `say` what is done next, `epoch` of the training under way, `point` the rows after each point."""

    say: Callable[[str], None] = lambda text: None
    epoch: Callable[[Progress], None] = lambda progress: None
    notice: Callable[[str], None] = lambda text: None
    point: Callable[[list[dict[str, Any]]], None] = lambda rows: None


@dataclass(frozen=True)
class Left:
    """How many trainings and audits a sweep consists of, and how many of them are still to be done."""

    trainings: int
    trainings_left: int
    audits: int
    audits_left: int


def run_points(plan: Plan, callbacks: Callbacks) -> list[dict[str, Any]]:
    """The rows of the table, one per point, test and measure; see scores.py for the columns."""
    tests = {name: limited(data, plan.limit) for name, data in plan.tests.items()}
    if len(plan.points) > 1:
        cache = CachedImages(room())
        tests = {name: cache.dataset(data) for name, data in tests.items()}
    rows: list[dict[str, Any]] = []
    for number, point in enumerate(plan.points, 1):
        callbacks.say(f"{number} of {len(plan.points)}: {point.name}")
        models = _models(plan, point, callbacks)
        scores = _ask(plan, point, models, tests, callbacks)
        for name, data in tests.items():
            rows.append({**_facts(point), **accuracy_row(name, data, scores[name])})
        for pair in plan.gaps:
            first, second = ((name, tests[name], scores[name]) for name in pair)
            rows.append({**_facts(point), **gap_row(first, second)})
        unseen = {name: one for name, one in scores.items() if name != plan.source}
        if plan.source is not None and unseen:
            rows.append({**_facts(point), **unseen_row({name: (tests[name], one) for name, one in unseen.items()})})
        callbacks.point(rows)
    return rows


def left(plan: Plan) -> Left:
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


def checkpoints(plan: Plan, point: Point) -> list[Path]:
    """Where the networks of a point are, or will be."""
    seeds = [replace(plan.recipe, seed=plan.recipe.seed + run) for run in range(plan.runs)]
    return [plan.out / "models" / point.name / f"{one.name}.safetensors" for one in seeds]


def run_folder(plan: Plan, point: Point, prints: Sequence[str], test: str, data: Dataset) -> Path:
    """Where the answers of a point, whose runs have these fingerprints, on some data are, or will be."""
    key = key_of(
        [list(prints), data.fingerprint, point.coarse and {k: list(v) for k, v in point.coarse.items()}, plan.rule]
    )
    return plan.out / "runs" / f"{point.name}-on-{test}-{key[:8]}"


def label_file(plan: Plan, point: Point) -> Path | None:
    """Where the label map of a point is, if it has one."""
    return None if point.coarse is None else plan.out / "labels" / f"{point.name}.json"


def _models(plan: Plan, point: Point, callbacks: Callbacks) -> list[str]:
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


def ids_file(plan: Plan, point: Point) -> Path:
    """Where the ids of a point's subset are stored."""
    return plan.out / "ids" / f"{point.name}.txt"


def _ask(
    plan: Plan, point: Point, models: Sequence[str], tests: Mapping[str, Dataset], callbacks: Callbacks
) -> dict[str, Scores]:
    """The scores of a point on each test; the model is run only where answers are missing."""
    labels = label_file(plan, point)
    if labels is not None and point.coarse is not None:
        label_map = {"rule": plan.rule, "classes": {coarse: list(fine) for coarse, fine in point.coarse.items()}}
        write_atomic(labels, json.dumps(label_map, indent=1, ensure_ascii=False).encode())
    asking = Asking(point.name, models, plan.device, labels)
    prints = fingerprints(point.name, models)
    scores: dict[str, Scores] = {}
    for name, data in tests.items():
        callbacks.say(f"asking {point.name} about {name}")
        scores[name] = read_scores(asking.about(data, run_folder(plan, point, prints, name, data)), data)
    return scores


def _facts(point: Point) -> dict[str, Any]:
    data = point.data
    return {
        "point": point.name,
        "x": point.x,
        "trained_on": point.description,
        "images": len(data) if data is not None else None,
        "classes": len(data.classes) if data is not None else None,
    }
