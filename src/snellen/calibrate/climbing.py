"""Running calibration series: one audit per rung, each in its own run folder, so that a second call asks nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

from snellen.calibrate.ladder import Ladder, Rung
from snellen.calibrate.series import LADDERS
from snellen.calibrate.series_scores import PlantedPoint, SeriesScore, score
from snellen.errors import UserError, unknown
from snellen.hashing import key_of
from snellen.terminal import tell

IMAGES, QUICK_IMAGES = 600, 120
RUNS = 3  # networks trained on a rung: which class a single one falls for is half chance


@dataclass(frozen=True)
class CalibrationStep:
    """A rung that was audited: where its run is and what was read from it."""

    rung: Rung
    run: Path
    n: int
    point: PlantedPoint


@dataclass(frozen=True)
class ClimbedLadder:
    """A series with its steps and how it did."""

    name: str
    ladder: Ladder
    steps: tuple[CalibrationStep, ...]
    score: SeriesScore


def climb(
    out: Path,
    only: Sequence[str] = (),
    images: int | None = None,
    trained: bool = False,
    quick: bool = False,
    quiet: bool = False,
) -> list[ClimbedLadder]:
    """The results of the chosen series: every one that trains nothing, those that train too if `trained`, or `only` some.

    `images` are shown on each rung; `quick` takes three rungs per series, with fewer images. Runs and networks lie
    under `out` by what they ask, so what is there already is only read.
    """
    count = images if images is not None else QUICK_IMAGES if quick else IMAGES
    if count < 2:
        raise UserError(f"expected at least 2 images, got {count}")
    return [_climb_ladder(name, LADDERS[name], count, quick, out, quiet) for name in choose_ladders(only, trained)]


def choose_ladders(only: Sequence[str], trained: bool) -> list[str]:
    """The names of the series to run, in the order of the table."""
    for name in only:
        if name not in LADDERS:
            raise unknown("series", name, LADDERS)
    return [name for name, ladder in LADDERS.items() if (name in only if only else trained or not ladder.trained)]


def _climb_ladder(name: str, ladder: Ladder, images: int, quick: bool, out: Path, quiet: bool) -> ClimbedLadder:
    steps = []
    for rung in ladder.rungs(images, quick):
        if not quiet and sys.stderr.isatty():
            tell(f"{name}: {ladder.planted} {rung.x:g}")
        steps.append(_step(name, ladder, rung, out))
    return ClimbedLadder(name, ladder, tuple(steps), score([step.point for step in steps]))


def _step(name: str, ladder: Ladder, rung: Rung, out: Path) -> CalibrationStep:
    from snellen.data import load_data
    from snellen.exam.auditing import audit
    from snellen.models import subjects_of

    model = f"{name}={_networks(_training_data(ladder, rung), out) if rung.train else rung.model}"
    fingerprints = [*(subject.card.fingerprint for subject in subjects_of(model)), load_data(rung.data).fingerprint]
    folder = out / "runs" / f"{name}-{rung.x:g}-{key_of([*fingerprints, rung.audit_train, rung.audits])[:8]}"
    run = audit(model, rung.data, rung.audits, folder, quiet=True, report=False, train=rung.audit_train or None)
    finding = ladder.pick(run.stored_findings(), rung.x)
    own = tuple(nan if number is None else number for number in (finding.value, finding.low, finding.high))
    value, low, high = own if ladder.reads is None else ladder.reads(finding)
    truth = nan if ladder.truth is None else float(ladder.truth(rung.x))
    return CalibrationStep(rung, folder, finding.n, PlantedPoint(rung.x, value, low, high, truth))


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
