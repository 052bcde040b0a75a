"""Climbing ladders: one audit per rung, each in its own run folder, so that a second climb asks nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

from snellen.calibrate.ladder import Ladder, Rung
from snellen.calibrate.ladders import LADDERS
from snellen.calibrate.score import Point, Score, score
from snellen.errors import UserError, unknown
from snellen.hashing import key_of
from snellen.terminal import tell

IMAGES, QUICK_IMAGES = 600, 120
RUNS = 3  # networks trained on a rung: which class a single one falls for is half chance


@dataclass(frozen=True)
class Step:
    """A rung that was climbed: where its run is and what was read from it."""

    rung: Rung
    run: Path
    n: int
    point: Point


@dataclass(frozen=True)
class ClimbedLadder:
    """A ladder with its steps and how it did."""

    name: str
    ladder: Ladder
    steps: tuple[Step, ...]
    score: Score


def climb(
    out: Path,
    only: Sequence[str] = (),
    images: int | None = None,
    trained: bool = False,
    quick: bool = False,
    quiet: bool = False,
) -> list[ClimbedLadder]:
    """The chosen ladders, climbed: every one that trains nothing, those that train too if `trained`, or `only` some.

    `images` are shown on each rung; `quick` climbs three rungs per ladder, with fewer images. Runs and networks lie
    under `out` by what they ask, so what is there already is only read.
    """
    count = images if images is not None else QUICK_IMAGES if quick else IMAGES
    if count < 2:
        raise UserError(f"expected at least 2 images, got {count}")
    return [_climb_ladder(name, LADDERS[name], count, quick, out, quiet) for name in choose_ladders(only, trained)]


def choose_ladders(only: Sequence[str], trained: bool) -> list[str]:
    """The names of the ladders to climb, in the order of the table."""
    for name in only:
        if name not in LADDERS:
            raise unknown("ladder", name, LADDERS)
    return [name for name, one in LADDERS.items() if (name in only if only else trained or not one.trained)]


def _climb_ladder(name: str, ladder: Ladder, images: int, quick: bool, out: Path, quiet: bool) -> ClimbedLadder:
    steps = []
    for rung in ladder.rungs(images, quick):
        if not quiet and sys.stderr.isatty():
            tell(f"{name}: {ladder.planted} {rung.x:g}")
        steps.append(_step(name, ladder, rung, out))
    return ClimbedLadder(name, ladder, tuple(steps), score([step.point for step in steps]))


def _step(name: str, ladder: Ladder, rung: Rung, out: Path) -> Step:
    from snellen.data import load_data
    from snellen.exam.audit import audit
    from snellen.models import subjects_of

    model = f"{name}={_networks(_training_data(ladder, rung), out) if rung.train else rung.model}"
    fingerprints = [*(subject.card.fingerprint for subject in subjects_of(model)), load_data(rung.data).fingerprint]
    folder = out / "runs" / f"{name}-{rung.x:g}-{key_of([*fingerprints, rung.audit_train, rung.audits])[:8]}"
    run = audit(model, rung.data, rung.audits, folder, quiet=True, report=False, train=rung.audit_train or None)
    finding = ladder.pick(run.results()["findings"], rung.x)
    own = tuple(nan if finding[key] is None else finding[key] for key in ("value", "low", "high"))
    value, low, high = own if ladder.reads is None else ladder.reads(finding)
    truth = nan if ladder.truth is None else float(ladder.truth(rung.x))
    return Step(rung, folder, finding["n"], Point(rung.x, value, low, high, truth))


def _training_data(ladder: Ladder, rung: Rung) -> Any:
    """The data that the networks of a rung learn from."""
    from snellen.data import load_data

    data = load_data(rung.train)
    return data if ladder.make_training_data is None else ladder.make_training_data(data, rung.x)


def _networks(data: Any, out: Path) -> str:
    """The text of small networks trained on some data, as in the demo; those that are there are kept."""
    from snellen.train import Recipe, train

    folder = out / "networks" / data.fingerprint[:8]
    train(Recipe(), data, folder, runs=RUNS)
    return f"{folder}/*.safetensors"
