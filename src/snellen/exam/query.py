"""SQL over the tables of a run: read only, with nothing else of this machine in reach."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError, option
from snellen.files.net import reason_of

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

LONGEST_QUERY = 600.0  # seconds
_READS = re.compile(
    r"\s*(select|from|with|pivot)\b", re.IGNORECASE
)  # how a query begins that is planned in several steps


def run_query(query: str, tables: Mapping[str, Sequence[Path]], timeout: float = LONGEST_QUERY) -> pd.DataFrame:
    """The result of one SELECT over views of Parquet files, by name, if it comes within `timeout` seconds.

    DuckDB may open these files and no other, nor load anything; what would change a table, a file or a setting is refused
    before it is run.
    """
    import duckdb

    # What does not fit into memory while a query runs goes to a folder that ends with it, not beside the user's files.
    with tempfile.TemporaryDirectory(prefix="snellen-") as spill, duckdb.connect() as connection:
        try:
            connection.execute(f"set temp_directory = {_text(spill)}")
            _open(connection, tables)
            _check(connection, query)
            with _interrupted_after(timeout, connection):
                return connection.execute(query).df()
        except UserError:
            raise
        except duckdb.InterruptException:
            raise UserError(
                f"the query took more than {timeout:g} s; ask for fewer rows, or allow more with {option('timeout')}"
            ) from None
        except Exception as error:  # of DuckDB, or of what turns its values into a frame
            raise UserError(f"the query failed: {reason_of(error)}") from error


@contextmanager
def _interrupted_after(seconds: float, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    timer = threading.Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def mentions(query: str, table: str) -> bool:
    """Whether a query may read a table: its name stands somewhere in it."""
    return re.search(rf"\b{table}\b", query, re.IGNORECASE) is not None


def _open(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Sequence[Path]]) -> None:
    """Make the views, then close every other way out of the database."""
    views = {name: [_pattern(file.resolve()) for file in files] for name, files in tables.items()}
    # Each file is allowed by its name and by the pattern that stands for it.
    paths = {
        text for files in tables.values() for file in files for text in (str(file.resolve()), _pattern(file.resolve()))
    }
    connection.execute(f"set allowed_paths = {_list(sorted(paths))}")
    for name, patterns in views.items():
        connection.execute(f"create view {name} as select * from read_parquet({_list(patterns)}, union_by_name=true)")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _check(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Refuse all but one statement that reads."""
    import duckdb

    statements: list[Any] = connection.extract_statements(query)
    if len(statements) != 1:
        raise UserError(f"expected one SELECT statement, got {len(statements) or 'none'}; give one query at a time")
    kind = statements[0].type
    if kind != duckdb.StatementType.SELECT and not (kind == duckdb.StatementType.MULTI and _READS.match(query)):
        raise UserError(f"expected a SELECT statement, got {kind.name}; the tables of a run are read only")


def _pattern(file: Path) -> str:
    """The file as a pattern that fits nothing else."""
    return re.sub(r"[*?\[]", lambda match: f"[{match[0]}]", str(file))


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
