"""`snellen sql`: every stored answer, by SQL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from snellen.cli.options import AsJson
from snellen.errors import UserError
from snellen.exam.query import LONGEST_QUERY
from snellen.files.plain import expand_home
from snellen.terminal import show_block

CSV_HELP = "print the result as CSV; text that a spreadsheet would run as a formula gets an apostrophe"


def sql(
    run: Annotated[Path, typer.Argument(parser=expand_home, help="run folder")],
    query: Annotated[str, typer.Argument(help="SQL over the tables cells, samples, shown, answers")],
    json: AsJson = False,
    csv: Annotated[bool, typer.Option("--csv", help=CSV_HELP)] = False,
    timeout: Annotated[float, typer.Option("--timeout", help="seconds after which the query ends")] = LONGEST_QUERY,
) -> None:
    """Query every stored answer with SQL (DuckDB)."""
    from snellen.exam.run import load_run
    from snellen.files.spreadsheet import to_csv

    frame = load_run(run).sql(query, timeout)
    if json:
        try:
            show_block(frame.to_json(orient="records", indent=1, default_handler=str))
        except (OverflowError, ValueError) as error:
            raise UserError(
                f"the result cannot be printed as JSON ({error}); cast it to text, as in x::varchar"
            ) from None
    else:
        show_block(to_csv(frame).rstrip("\n") if csv else frame.to_string(index=False))
