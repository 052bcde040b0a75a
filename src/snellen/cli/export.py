"""`snellen export`: the answers of a run for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from snellen.files.plain import expand_home, place_to_write
from snellen.terminal import show

FORMAT_HELP = (
    "csv or parquet (one table, which predictions: reads again), fiftyone (a folder that FiftyOne reads) or hf (a folder that "
    "Hugging Face's datasets reads, with the findings)  [default: by the ending of --out, else csv]"
)


def export(
    run: Annotated[Path, typer.Argument(parser=expand_home, help="run folder")],
    out: Annotated[
        Path | None,
        typer.Option(
            parser=place_to_write,
            metavar="PATH",
            help="file (.csv or .parquet) or folder to write",
            show_default="inside the run folder",
        ),
    ] = None,
    format: Annotated[
        Literal["csv", "parquet", "fiftyone", "hf"] | None, typer.Option("--format", help=FORMAT_HELP)
    ] = None,
) -> None:
    """Write every answer of a finished run for other programs: a table, FiftyOne or Hugging Face."""
    from snellen.exam.run import load_run

    show(str(load_run(run).export(out, format)))
