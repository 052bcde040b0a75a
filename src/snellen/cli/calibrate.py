"""`snellen calibrate`: planted against measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from snellen.cli.options import AsJson, Quiet
from snellen.terminal import show, show_json


def calibrate(
    out: Annotated[Path, typer.Option(help="folder for the runs and calibration.html")] = Path("calibration"),
    only: Annotated[list[str] | None, typer.Option(help="climb only this ladder; may be given several times")] = None,
    images: Annotated[int | None, typer.Option(help="images per rung; default 600")] = None,
    trained: Annotated[bool, typer.Option("--trained", help="also train a small network for each rung")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="three rungs per ladder and 120 images")] = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Plant more and more of something in the phantom world and see whether the audits measure it."""
    from snellen.calibrate import calibrate

    _print_calibration(calibrate(out, only or (), images, trained, quick, quiet), out, as_json=json, quiet=quiet)


def _print_calibration(page: Mapping[str, Any], out: Path, *, as_json: bool, quiet: bool) -> None:
    """The ladders as a table (or JSON) and where the page is."""
    from snellen.calibrate import rows_of
    from snellen.cli.printing import print_table

    if as_json:
        show_json(page)
    elif not quiet:
        head = ("ladder", "finding", "rank", "slope", "of the truth", "furthest; hold it", "")
        print_table([head, *((row[0], *row[2:]) for row in rows_of(page))])
        show(f"page: {out / 'calibration.html'}")
