"""Calibration: what is planted in the phantom world against what the audits measure of it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from snellen.atomic import check_place, write_atomic
from snellen.calibrate.climbing import climb
from snellen.calibrate.ladder import Ladder
from snellen.calibrate.result import result_of
from snellen.calibrate.series import LADDERS
from snellen.calibrate.series_scores import PlantedPoint, SeriesScore, score
from snellen.exam.calibrate_request import CalibrateRequest
from snellen.files import expand_home
from snellen.lazy_names import lister
from snellen.report.pages import calibration as pages
from snellen.report.pages.calibration import CalibrationResult, rows_of
from snellen.settings_file import door


def calibrate_world(request: CalibrateRequest) -> dict[str, Any]:
    """Run the calibration series and write calibration.html, .md and .json into `out`; the result as plain values comes back.

    `only` names some series; `trained` adds those that train a small network for each rung. A second call with the same words
    asks nothing again.

    >>> from snellen.calibrate import calibrate
    >>> found = calibrate("calibration", only=["background_bias"], quick=True, quiet=True)
    >>> sorted(found)
    ['command', 'created', 'ladders', 'snellen', 'title']
    """
    plain: dict[str, Any] = msgspec.to_builtins(write_calibration(request))
    return plain


def write_calibration(request: CalibrateRequest) -> CalibrationResult:
    """The same; the result comes back as what the page is made of."""
    folder, only = expand_home(request.out), request.only
    check_place(folder)
    ladders = climb(folder, only, request.images, request.trained, request.quick, request.quiet)
    flags = [
        *(f"--only {name}" for name in only),
        *(["--images", str(request.images)] if request.images is not None else []),
    ]
    flags += [f"--{name}" for name in ("trained", "quick") if getattr(request, name)]
    result = result_of(ladders, folder, " ".join(["snellen calibrate", *flags]))
    content = json.dumps(msgspec.to_builtins(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomic(folder / "calibration.json", content.encode())
    pages.write(result, folder)
    return result


calibrate = door(calibrate_world, CalibrateRequest, "out", "only", "images", "trained", "quick", "quiet")

__all__ = [
    "LADDERS",
    "Ladder",
    "PlantedPoint",
    "SeriesScore",
    "calibrate",
    "calibrate_world",
    "climb",
    "rows_of",
    "score",
]
__dir__ = lister(__all__)
