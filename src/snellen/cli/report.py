"""`snellen report`: the report of finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snellen.cli.options import AllFindings, Pairs
from snellen.errors import UserError
from snellen.terminal import show


def report(
    runs: Annotated[list[Path], typer.Argument(help="run folder", metavar="RUN...")],
    out: Annotated[Path | None, typer.Option(help="write here instead (.html or .md); for one run only")] = None,
    every: AllFindings = False,
    pairs: Pairs = False,
    figures: Annotated[
        Path | None, typer.Option(help="write its charts into this folder too; for one run only", metavar="DIR")
    ] = None,
    figure_format: Annotated[str, typer.Option(help="format of the charts: svg or png", metavar="svg|png")] = "svg",
) -> None:
    """Write the report of finished runs again, from their stored answers."""
    from snellen.exam.run import load_run

    if out is not None and len(runs) > 1:
        raise UserError(f"--out takes one run, got {len(runs)}")
    if figures is not None and len(runs) > 1:
        raise UserError(f"--figures takes one run, got {len(runs)}")
    for folder in runs:
        run = load_run(folder)
        if every or pairs:
            from snellen.cli.printing import PrintChoice, print_findings

            print_findings(run, PrintChoice(every=every, pairs=pairs))
        show(run.report(out))
        if figures is not None:
            show(f"{len(run.figures(figures, figure_format))} charts in {figures}")
