"""Tables that are written and read row by row: cells, trials, searches and surveys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.engine.keep.shard_file import read_rows

if TYPE_CHECKING:
    import pyarrow as pa


def table_of_rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A table of rows that need not have the same columns."""
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})


def rows_in(file: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; a list in one is an array."""
    table = read_rows(file)
    columns = [column.to_pylist() if not _is_list(column) else list(_arrays(column)) for column in table.columns]
    for values in zip(*columns):
        yield dict(zip(table.column_names, values))


def _is_list(column: pa.ChunkedArray) -> bool:
    import pyarrow.types as types

    return types.is_list(column.type)


def _arrays(column: pa.ChunkedArray) -> Iterator[np.ndarray | None]:
    return (entry.values.to_numpy() if entry.is_valid else None for entry in column)
