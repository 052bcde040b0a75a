"""`snellen curate`: make a request of the options and the settings file, serve the desk or write what came of it, print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snellen.cli.options import AsJson, Config, takes
from snellen.settings_file import resolve
from snellen.terminal import show, show_block, tell
from snellen.web.curate.request import CurateRequest
from snellen.web.serve_request import ServeRequest


@takes(CurateRequest, arguments=("dataset",), after=ServeRequest)
def curate(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Let people look at every image of a set: keep it, mend its mask or reject it; then rebuild what is left."""
    from snellen.web import require

    require("snellen curate")
    from snellen.web.curate.session import Session

    session = Session(resolve(CurateRequest, settings, config))
    writes = session.request.settle or session.request.apply is not None
    curated = session.settle() if writes else session.serve(tell)
    if json:
        show_block(curated.json)
    else:
        for line in curated.lines:
            show(line)
