"""What should be compared: every setting once, for `snellen compare`, settings files and `snellen.exam.compare_models(...)`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.request import Request, plugin_setting, setting

if TYPE_CHECKING:
    from snellen.engine.keep.run_folder import RunFolder

    RunLike = str | Path | RunFolder
else:  # what Python may pass beyond texts is not imported for --help
    RunLike = object


@dataclass(frozen=True, kw_only=True)
class CompareRequest(Request):
    """The settings of one comparison of models on the same images."""

    run: RunLike | None = setting("run folder", metavar="RUN", required=True)
    other: RunLike | None = setting("run folder of other versions of its models, on the same images", metavar="RUN")
    models: tuple[str, ...] = setting(
        "models to compare, separated by commas; default all", (), commas=True, metavar="NAME"
    )
    on: str = setting("role of the images that are compared", "test", metavar="ROLE")
    distortion: str = setting("distortion under which they are compared", "none()", metavar="DISTORTION")
    plugins: tuple[str, ...] = plugin_setting()
    page: Path | None = setting(
        "write a page with the images that only one of two gets right", metavar="FILE", written=True
    )
    pictures: int = setting("images per pair and side on the page", 12, at_least=0, at_most=200)
    quiet: bool = setting("print nothing but errors", False, short="-q")
