"""`snellen explain`: where in images models look for their answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.cli.options import AsJson, Config, takes
from snellen.exam.explain_request import ExplainRequest, HowToExplain
from snellen.settings_file import resolve
from snellen.terminal import show, show_json, tell

if TYPE_CHECKING:
    from snellen.exam.explain_pictures import Explanation
    from snellen.exam.side_by_side import Beside


@takes(ExplainRequest, arguments=("model", "images"), after=HowToExplain)
def explain(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Show where in each image torch models look for their answer: pictures, or a page of several models."""
    from snellen.exam.explain_pictures import explain_files
    from snellen.exam.side_by_side import explain_models
    from snellen.explain.picture import is_image_name

    request = resolve(ExplainRequest, settings, config)
    if request.data is not None and not (request.images and all(map(is_image_name, request.images))):
        _print_beside(explain_models(request.side_by_side()), as_json=json)
    else:
        _print_explained(explain_files(request, notice=tell), as_json=json)


def _print_explained(pictures: Sequence[Explanation], *, as_json: bool) -> None:
    """Where each picture is, the model's answer and its confidence."""
    if as_json:
        rows = [
            {name: str(v) if isinstance(v, Path) else v for name, v in asdict(picture).items()} for picture in pictures
        ]
        show_json(rows)
        return
    for picture in pictures:
        show(f"{picture.picture}: {picture.said} ({picture.confidence:.0%})")


def _print_beside(beside: Beside, *, as_json: bool) -> None:
    """How much of each model's maps lies inside the masks, and where the page is."""
    from snellen.cli.printing import print_table

    findings = [finding.to_json() for finding in beside.findings]
    if as_json:
        show_json({"page": str(beside.page), "findings": findings})
        return
    rows = []
    for finding in findings:
        value, low, high = ("–" if finding[key] is None else f"{finding[key]:.3f}" for key in ("value", "low", "high"))
        rows.append((finding["model"], finding["name"], value, f"{low} … {high}", str(finding["n"])))
    print_table([("model", "finding", "value", "95% interval", "images"), *rows])
    show()
    show(f"page: {beside.page}")
