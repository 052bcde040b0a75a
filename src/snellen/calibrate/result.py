"""What a calibration leaves: what calibration.json holds and the page shows, made of ladders that were climbed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from snellen.calibrate.climbing import CalibrationStep, ClimbedLadder
from snellen.calibrate.ladder import Ladder
from snellen.calibrate.series_scores import PlantedPoint, SeriesScore
from snellen.report.pages.calibration import CalibrationResult, LadderResult, RungResult, SlopeResult
from snellen.version import __version__

MONOTONE = 0.9 - 1e-9  # the least rank correlation (0.9), in the right direction, that counts as following


def result_of(ladders: Sequence[ClimbedLadder], out: Path, command: str) -> CalibrationResult:
    """The result of some series; nan becomes None."""
    return CalibrationResult(
        title="Calibration: planted against measured",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        snellen=__version__,
        command=command,
        ladders=[_ladder(climbed, out) for climbed in ladders],
    )


def _ladder(climbed: ClimbedLadder, out: Path) -> LadderResult:
    ladder, score = climbed.ladder, climbed.score
    slope = score.slope
    return LadderResult(
        name=climbed.name,
        title=ladder.title,
        planted=ladder.planted,
        says=ladder.says,
        finding=ladder.finding,
        measured=ladder.value_name or ladder.finding.replace("_", " "),
        audits=ladder.audits,
        moves=ladder.moves,
        follows=follows(score, [step.point for step in climbed.steps], ladder.moves),
        spearman=_known(score.spearman),
        slope=SlopeResult(value=_known(slope.value), low=_known(slope.low), high=_known(slope.high)),
        truth_slope=_known(score.truth_slope),
        worst=_known(score.worst),
        inside=score.inside,
        points=[_rung(step, ladder, out) for step in climbed.steps],
    )


def follows(score: SeriesScore, points: Sequence[PlantedPoint], moves: str) -> bool:
    """Whether a finding went where it should: its rank correlation, or for `flat` one level inside every interval."""
    if moves == "flat":
        return len(points) > 1 and max(point.low for point in points) <= min(point.high for point in points)
    return (1 if moves == "up" else -1) * score.spearman >= MONOTONE


def _rung(step: CalibrationStep, ladder: Ladder, out: Path) -> RungResult:
    point, rung = step.point, step.rung
    training = (
        f"trained on {rung.train}"
        if ladder.make_training_data is None
        else f"trained on what the series makes of {rung.train}"
    )
    return RungResult(
        x=_known(point.x),
        value=_known(point.value),
        low=_known(point.low),
        high=_known(point.high),
        truth=_known(point.truth),
        n=step.n,
        model=rung.model or training,
        data=rung.data,
        run=step.run.relative_to(out).as_posix(),
    )


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
