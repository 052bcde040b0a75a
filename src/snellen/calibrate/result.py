"""What a calibration leaves: one dictionary of plain values, which calibration.json holds and the page shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from snellen.calibrate.climb import ClimbedLadder, Step
from snellen.calibrate.ladder import Ladder
from snellen.calibrate.score import Point, Score
from snellen.version import __version__

MONOTONE = 0.9 - 1e-9  # the least rank correlation (0.9), in the right direction, that counts as following


def result_of(ladders: Sequence[ClimbedLadder], out: Path, command: str) -> dict[str, Any]:
    """The result of some climbed ladders; nan becomes None."""
    return {
        "title": "Calibration: planted against measured",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "snellen": __version__,
        "command": command,
        "ladders": [_ladder(one, out) for one in ladders],
    }


def _ladder(one: ClimbedLadder, out: Path) -> dict[str, Any]:
    score = one.score
    return {
        "name": one.name,
        "title": one.ladder.title,
        "planted": one.ladder.planted,
        "says": one.ladder.says,
        "finding": one.ladder.finding,
        "measured": one.ladder.value_name or one.ladder.finding.replace("_", " "),
        "audits": one.ladder.audits,
        "moves": one.ladder.moves,
        "follows": follows(score, [step.point for step in one.steps], one.ladder.moves),
        "spearman": _plain(score.spearman),
        "slope": {name: _plain(getattr(score.slope, name)) for name in ("value", "low", "high")},
        "truth_slope": _plain(score.truth_slope),
        "worst": _plain(score.worst),
        "inside": score.inside,
        "points": [_point(step, one.ladder, out) for step in one.steps],
    }


def follows(score: Score, points: Sequence[Point], moves: str) -> bool:
    """Whether a finding went where it should: its rank correlation, or for `flat` one level inside every interval."""
    if moves == "flat":
        return len(points) > 1 and max(point.low for point in points) <= min(point.high for point in points)
    return (1 if moves == "up" else -1) * score.spearman >= MONOTONE


def _point(step: Step, ladder: Ladder, out: Path) -> dict[str, Any]:
    values = {name: _plain(getattr(step.point, name)) for name in ("x", "value", "low", "high", "truth")}
    rung = step.rung
    training = (
        f"trained on {rung.train}"
        if ladder.make_training_data is None
        else f"trained on what the ladder makes of {rung.train}"
    )
    return {**values, "n": step.n, "model": rung.model or training, "data": rung.data,
            "run": step.run.relative_to(out).as_posix()}  # fmt: skip


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
