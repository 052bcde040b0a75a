"""`snellen sql`: every stored answer, by SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snellen.cli.options import AsJson
from snellen.terminal import show_block


def sql(
    run: Annotated[Path, typer.Argument(help="run folder")],
    query: Annotated[str, typer.Argument(help="SQL over the tables cells, samples, shown, answers")],
    json: AsJson = False,
    csv: Annotated[bool, typer.Option("--csv", help="print the result as CSV")] = False,
) -> None:
    """Query every stored answer with SQL (DuckDB)."""
    from snellen.exam.run import load_run

    frame = load_run(run).sql(query)
    if json:
        show_block(frame.to_json(orient="records", indent=1))
    else:
        show_block(frame.to_csv(index=False).rstrip("\n") if csv else frame.to_string(index=False))
