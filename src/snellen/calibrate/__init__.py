"""Calibration: what is planted in the phantom world against what the audits measure of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from snellen.atomic import write_atomic
from snellen.calibrate.climb import climb
from snellen.calibrate.ladder import Ladder
from snellen.calibrate.ladders import LADDERS
from snellen.calibrate.page import html_of, markdown_of, page_of, rows_of
from snellen.calibrate.score import Point, Score, score


def calibrate(
    out: Path | str = "calibration",
    only: Sequence[str] = (),
    images: int | None = None,
    trained: bool = False,
    quick: bool = False,
    quiet: bool = False,
) -> dict[str, Any]:
    """Climb the ladders and write calibration.html, .md and .json into `out`; the page as plain values comes back.

    `only` names some ladders; `trained` adds those that train a small network a rung; `images` are shown on each rung
    (default 600); `quick` climbs three rungs with 120 images. A second call with the same words asks nothing again.
    """
    folder = Path(out)
    climbed = climb(folder, only, images, trained, quick, quiet)
    flags = [*(f"--only {name}" for name in only), *(["--images", str(images)] if images is not None else [])]
    flags += [f"--{name}" for name, on in (("trained", trained), ("quick", quick)) if on]
    page = page_of(climbed, folder, " ".join(["snellen calibrate", *flags]))
    renderings = {"json": json.dumps(page, indent=1, ensure_ascii=False, allow_nan=False) + "\n"}
    renderings |= {"md": markdown_of(page), "html": html_of(page)}
    for suffix, content in renderings.items():
        write_atomic(folder / f"calibration.{suffix}", content.encode())
    return page


__all__ = ["LADDERS", "Ladder", "Point", "Score", "calibrate", "climb", "html_of", "markdown_of", "rows_of", "score"]
