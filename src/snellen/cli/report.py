"""`snellen report`: the report of finished runs, or their findings for other people's pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from snellen.cli.options import AllFindings, ModelPairs
from snellen.errors import UserError
from snellen.files.plain import expand_home, place_to_write
from snellen.terminal import show

FORMAT_HELP = (
    "instead of the report: card (a section of a model card, Markdown), hf (Hugging Face's evaluation results, YAML), badge "
    "(SVG) or mlflow (metrics and artifacts, sent to MLFLOW_TRACKING_URI)"
)


def report(
    runs: Annotated[list[Path], typer.Argument(parser=expand_home, help="run folder", metavar="RUN...")],
    out: Annotated[
        Path | None,
        typer.Option(parser=place_to_write, metavar="PATH", help="write here instead (.html or .md); for one run only"),
    ] = None,
    every: AllFindings = False,
    pairs: ModelPairs = False,
    figures: Annotated[
        Path | None,
        typer.Option(
            parser=place_to_write, help="write its charts into this folder too; for one run only", metavar="DIR"
        ),
    ] = None,
    figure_format: Annotated[str, typer.Option(help="format of the charts: svg or png", metavar="svg|png")] = "svg",
    format: Annotated[
        Literal["card", "hf", "badge", "mlflow"] | None, typer.Option("--format", help=FORMAT_HELP)
    ] = None,
) -> None:
    """Write the report of finished runs again, from their stored answers."""
    from snellen.exam.run import load_run
    from snellen.report import to_mlflow

    if out is not None and len(runs) > 1:
        raise UserError(f"--out takes one run, got {len(runs)}")
    if figures is not None and len(runs) > 1:
        raise UserError(f"--figures takes one run, got {len(runs)}")
    if out is not None and format == "mlflow":
        raise UserError("--format mlflow writes no file; leave --out away")
    for folder in runs:
        run = load_run(folder)
        if every or pairs:
            from snellen.cli.printing import PrintChoice, print_findings

            print_findings(run, PrintChoice(every=every, pairs=pairs))
        show(f"mlflow run {to_mlflow(run)}" if format == "mlflow" else run.report(out, format))
        if figures is not None:
            show(f"{len(run.figures(figures, figure_format))} charts in {figures}")
