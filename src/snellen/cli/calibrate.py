"""`snellen calibrate`: planted against measured."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.cli.options import AsJson, Config, takes
from snellen.exam.calibrate_request import CalibrateRequest
from snellen.settings_file import resolve
from snellen.terminal import show, show_json

if TYPE_CHECKING:
    from snellen.report.pages.calibration import CalibrationResult


@takes(CalibrateRequest)
def calibrate(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Plant more and more of something in the phantom world and see whether the audits measure it."""
    from snellen.calibrate import write_calibration

    request = resolve(CalibrateRequest, settings, config)
    _print_calibration(write_calibration(request), request.out, as_json=json, quiet=request.quiet)


def _print_calibration(result: CalibrationResult, out: Path, *, as_json: bool, quiet: bool) -> None:
    """The series as a table (or JSON) and where the page is."""
    import msgspec

    from snellen.calibrate import rows_of
    from snellen.cli.printing import print_table

    if as_json:
        show_json(msgspec.to_builtins(result))
    elif not quiet:
        head = ("series", "finding", "rank", "slope", "of the truth", "furthest; hold it", "")
        print_table([head, *((row[0], *row[2:]) for row in rows_of(result))])
        show(f"page: {out / 'calibration.html'}")
