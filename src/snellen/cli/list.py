"""`snellen list`: the available models, data, distortions, audits, attribution methods and search spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from snellen.cli.options import AsJson
from snellen.terminal import show, show_json


def list_(
    kind: Annotated[
        str,
        typer.Argument(
            help="models, data, distortions, audits, methods (attribution) or spaces (of edits); none: these words"
        ),
    ] = "",
    json: AsJson = False,
) -> None:
    """List the available models, data, distortions, audits, attribution methods and search spaces."""
    from snellen.catalogue import CATALOGUES, catalogue

    _print_pairs(catalogue(kind) if kind else list(CATALOGUES.items()), as_json=json)
    if not kind and not json:
        show()
        show("example: snellen list audits")


def _print_pairs(pairs: Sequence[tuple[str, str]], *, as_json: bool) -> None:
    """Name and meaning, side by side."""
    if as_json:
        rows = [{"text": text, "meaning": meaning} for text, meaning in pairs]
        show_json(rows)
        return
    wide = max(len(text) for text, _ in pairs)
    for text, meaning in pairs:
        if wide > 48:
            show(text)
        show(f"    {meaning}" if wide > 48 else f"{text.ljust(wide)}  {meaning}")
