"""What a table of many rows offers, wherever it lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from snellen.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

MOST_ROWS = 20_000_000  # in a small file, a row that is repeated takes no room


class RowSource(Protocol):
    """A table: its schema, what changes when its rows do, its light columns, and cells of heavy ones. Threads may share it."""

    @property
    def schema(self) -> pa.Schema: ...

    @property
    def state(self) -> Sequence[object]: ...

    def __len__(self) -> int: ...

    def light(self, columns: Sequence[str]) -> pa.Table:
        """All rows of some columns; a field of one that has several is named `image.path`, and comes as that column."""

    def cells(self, column: str, positions: Sequence[int]) -> list[Any]:
        """What stands in a column, as Python has it; UserError where it cannot be read."""


def select(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Some columns of a table, in this order; `image.path` is a field of one that is none itself."""
    import pyarrow as pa
    import pyarrow.compute as pc

    arrays = []
    for name in columns:
        column, _, inner = (name, "", "") if name in table.column_names else name.partition(".")
        array = table.column(column)
        arrays.append(pc.struct_field(array, [inner]) if inner else array)
    return pa.table(arrays, list(columns))


def check_count(rows: int, where: str) -> None:
    if rows > MOST_ROWS:
        raise UserError(f"{where} has {rows:,} rows, more than {MOST_ROWS:,}; split it")
