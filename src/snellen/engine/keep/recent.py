"""Tables that this process has just written, so that conclusions need not read them back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

MOST = 2**28  # bytes; tables beyond them are read from their files
# What conclusions look at; `logits` and what a dataset adds to its listing stay on the disk.
COLUMNS = {
    "answers": ("cell", "sample", "pred", "raw", "score", "confidence", "label_prob", "counts"),
    "shown": ("shown", "sample", "covered", "object_covered", "excluded"),
    "samples": ("sample", "class", "label", "checksum", "error"),
}


class RecentTables:
    """Some columns of the tables that were written last, by file, `most` bytes of them."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.size = most, 0
        self._tables: dict[Path, pa.Table] = {}
        self._adding = Lock()  # several threads write

    def add(self, table: str, path: Path, rows: pa.Table) -> None:
        """Keep what was written as a file of a table (answers, shown or samples), while there is room."""
        some = rows.select([name for name in COLUMNS[table] if name in rows.column_names])
        with self._adding:
            if self.size + some.nbytes <= self.most:
                self.size += some.nbytes
                self._tables[path] = some

    def rows(self, path: Path, columns: Sequence[str]) -> pa.Table | None:
        """Columns of a file, if they are in memory."""
        table = self._tables.get(path)
        known = table is not None and set(columns) <= set(table.column_names)
        return table.select(list(columns)) if table is not None and known else None

    def schema(self, path: Path) -> pa.Schema | None:
        """What a file's columns are and its header says, if that is in memory."""
        table = self._tables.get(path)
        return None if table is None else table.schema
