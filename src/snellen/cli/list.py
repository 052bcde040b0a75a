"""`snellen list`: the available models, data, distortions, audits, attribution methods and search spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from snellen.cli.options import AsJson
from snellen.request import PLUGIN_HELP
from snellen.terminal import show, show_json

if TYPE_CHECKING:
    from snellen.catalogue import Listed


def list_(
    kind: Annotated[
        str,
        typer.Argument(
            help="models, data, distortions, audits, methods (attribution) or spaces (of edits); none: these words"
        ),
    ] = "",
    plugins: Annotated[list[str] | None, typer.Option("--plugin", help=PLUGIN_HELP, metavar="FILE.py")] = None,
    json: AsJson = False,
) -> None:
    """List the available models, data, distortions, audits, attribution methods and search spaces, and where each is from."""
    from snellen.catalogue import CATALOGUES, Listed, listing
    from snellen.plugins import load_plugins

    load_plugins(plugins or ())
    _print_lines(listing(kind) if kind else [Listed(*line) for line in CATALOGUES.items()], as_json=json)
    if not kind and not json:
        show()
        show("example: snellen list audits")


def _print_lines(lines: Sequence[Listed], *, as_json: bool) -> None:
    """Name and meaning, side by side, below where they come from."""
    if as_json:
        show_json([{"text": line.text, "meaning": line.meaning, "from": line.origin} for line in lines])
        return
    wide = max(len(line.text) for line in lines)
    origins = list(dict.fromkeys(line.origin for line in lines))
    for number, origin in enumerate(origins):
        if len(origins) > 1:
            show(f"from {origin}:")
        for line in lines:
            if line.origin == origin:
                _print_line(line, wide)
        if number < len(origins) - 1:
            show()


def _print_line(line: Listed, wide: int) -> None:
    if wide > 48:
        show(line.text)
    show(f"    {line.meaning}" if wide > 48 else f"{line.text.ljust(wide)}  {line.meaning}")
