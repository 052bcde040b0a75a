"""`snellen explain`: where in images models look for their answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from snellen.cli.options import AsJson
from snellen.errors import UserError
from snellen.terminal import show, show_json, tell

if TYPE_CHECKING:
    from snellen.exam.side_by_side import Beside
    from snellen.explain import Explanation


def explain(
    model: Annotated[str, typer.Argument(help="model to explain; see `snellen list models`")],
    images: Annotated[
        list[str] | None, typer.Argument(help="image files; with --data more models", metavar="IMAGE...")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="dataset with masks: models side by side; with image files: usual images for iba"),
    ] = None,
    limit: Annotated[int, typer.Option(help="with --data: show at most N images")] = 64,
    layer: Annotated[str | None, typer.Option(help="where to look: a name, -2 (stages from the end) or stage3")] = None,
    method: Annotated[
        str, typer.Option(help="how to make maps, several as gradcam,iba; see `snellen list methods`")
    ] = "gradcam",
    out: Annotated[
        Path | None, typer.Option(help="folder for the pictures; default beside each image, with --data explained")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1, mps or auto")] = None,
    json: AsJson = False,
) -> None:
    """Show where in each image torch models look for their answer: pictures, or a page of several models."""
    from snellen.exam.side_by_side import explain_beside
    from snellen.explain import explain_images
    from snellen.explain.picture import is_image_name
    from snellen.models import load_model

    if data is not None and not (images and all(map(is_image_name, images))):
        beside = explain_beside([model, *(images or [])], data, out or "explained", limit, layer, device, method)
        _print_beside(beside, as_json=json)
        return
    if not images:
        raise UserError("no image given; name image files, or --data with masks")
    one = load_model(model, device)
    pictures = explain_images(one, list(map(Path, images)), layer, out, method, data=data, notice=tell)
    _print_explained(pictures, as_json=json)


def _print_explained(pictures: Sequence[Explanation], *, as_json: bool) -> None:
    """Where each picture is, the model's answer and its confidence."""
    if as_json:
        rows = [{name: str(v) if isinstance(v, Path) else v for name, v in asdict(one).items()} for one in pictures]
        show_json(rows)
        return
    for one in pictures:
        show(f"{one.picture}: {one.said} ({one.confidence:.0%})")


def _print_beside(beside: Beside, *, as_json: bool) -> None:
    """How much of each model's maps lies inside the masks, and where the page is."""
    from snellen.cli.printing import print_table

    findings = [one.to_json() for one in beside.findings]
    if as_json:
        show_json({"page": str(beside.page), "findings": findings})
        return
    rows = []
    for one in findings:
        value, low, high = ("–" if one[key] is None else f"{one[key]:.3f}" for key in ("value", "low", "high"))
        rows.append((one["model"], one["name"], value, f"{low} … {high}", str(one["n"])))
    print_table([("model", "finding", "value", "95% interval", "images"), *rows])
    show()
    show(f"page: {beside.page}")
