"""What a calibration should do: every setting once, for `snellen calibrate`, its settings files and `calibrate(...)`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from snellen.request import Request, setting


@dataclass(frozen=True, kw_only=True)
class CalibrateRequest(Request):
    """The settings of a calibration."""

    out: Path = setting("folder for the runs and calibration.html", Path("calibration"), metavar="DIR", written=True)
    only: tuple[str, ...] = setting("run only this calibration series; may be given several times", (), metavar="NAME")
    images: int | None = setting("images per level; default 600, with --quick 120", at_least=2, at_most=10**6)
    trained: bool = setting("also train a small network for each level", False)
    quick: bool = setting("three levels per series and 120 images", False)
    quiet: bool = setting("print nothing but errors", False, short="-q")
