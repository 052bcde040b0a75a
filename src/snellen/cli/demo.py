"""`snellen demo`: two small models of the phantom world, audited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snellen.cli.options import AllFindings, AsJson, ModelPairs, Quiet
from snellen.files.plain import place_to_write


def demo(
    out: Annotated[
        Path, typer.Option(parser=place_to_write, metavar="PATH", help="folder for models, answers and the report")
    ] = Path("demo"),
    json: AsJson = False,
    quiet: Quiet = False,
    every: AllFindings = False,
    pairs: ModelPairs = False,
) -> None:
    """Train two small models on the phantom world, audit them and write a report (some minutes on 2 cores)."""
    from snellen.cli.printing import PrintChoice, print_run
    from snellen.demo import run_demo

    print_run(run_demo(out, quiet=quiet), PrintChoice(quiet, json, every, pairs))
