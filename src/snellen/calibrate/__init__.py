"""Calibration: what is planted in the phantom world against what the audits measure of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from snellen.atomic import check_place, write_atomic
from snellen.calibrate.climb import climb
from snellen.calibrate.ladder import Ladder
from snellen.calibrate.ladders import LADDERS
from snellen.calibrate.result import result_of
from snellen.calibrate.score import Point, Score, score
from snellen.files import expand_home
from snellen.report.pages import calibration as pages
from snellen.report.pages.calibration import rows_of


def calibrate(
    out: Path | str = "calibration",
    only: Sequence[str] = (),
    images: int | None = None,
    trained: bool = False,
    quick: bool = False,
    quiet: bool = False,
) -> dict[str, Any]:
    """Climb the ladders and write calibration.html, .md and .json into `out`; the result as plain values comes back.

    `only` names some ladders; `trained` adds those that train a small network for each rung; `images` are shown on each rung
    (default 600); `quick` climbs three rungs with 120 images. A second call with the same words asks nothing again.
    """
    folder = expand_home(out)
    check_place(folder)
    ladders = climb(folder, only, images, trained, quick, quiet)
    flags = [*(f"--only {name}" for name in only), *(["--images", str(images)] if images is not None else [])]
    flags += [f"--{name}" for name, on in (("trained", trained), ("quick", quick)) if on]
    result = result_of(ladders, folder, " ".join(["snellen calibrate", *flags]))
    content = json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomic(folder / "calibration.json", content.encode())
    pages.write(result, folder)
    return result


__all__ = ["LADDERS", "Ladder", "Point", "Score", "calibrate", "climb", "rows_of", "score"]
