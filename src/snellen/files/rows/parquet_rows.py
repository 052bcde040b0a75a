"""Rows of Parquet files: heavy columns are read forwards in small batches, the last of which are kept.

Images in a table are asked for in its order by several threads, so nearly all are in a batch that is there already. A row group
of many gigabytes takes no more memory than a small one; only going back in it costs time.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError
from snellen.files.net import reading
from snellen.files.plain import MIB, NotRead, open_file
from snellen.files.rows.row_source import check_count, select
from snellen.files.tree import size_and_time

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

BATCH, MOST_IN_BATCH = 4 * MIB, 64  # bytes and rows that are read at once
RECENT = 8  # batches of a row group
OPEN = 4  # row groups that are read at the same time
LARGE_DICTIONARY = 64 * MIB  # of a chunk: its values may be repeated, so rows are read one by one


@dataclass(frozen=True)
class RowGroup:
    """A part of a file that is read by itself."""

    path: Path
    number: int
    rows: int
    uncompressed: dict[str, int]  # bytes of each column
    dictionaries: frozenset[str]  # columns whose values may be repeated


class ParquetRows:
    """The rows of one or several Parquet files of the same columns."""

    def __init__(self, paths: Sequence[Path], kind: str = "file") -> None:
        self.paths, self._kind = list(paths), kind
        self._states = {path: size_and_time(path) for path in self.paths}
        self._groups: list[RowGroup] = []
        schemas = []
        for path in self.paths:
            with open_parquet(path, kind) as file:
                schemas.append(file.schema_arrow)
                self._groups += _groups(file, path)
        self._schema = schemas[0]
        for path, schema in zip(self.paths, schemas):
            if schema.names != self._schema.names:
                names = f"{', '.join(schema.names[:20])}; {self.paths[0]} has: {', '.join(self._schema.names[:20])}"
                raise UserError(f"{path} has the columns {names}; give files of one table")
        self._ends = list(accumulate(group.rows for group in self._groups))
        check_count(len(self), str(self.paths[0]))
        self._cursors: OrderedDict[tuple[str, int], Cursor] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def state(self) -> list[object]:
        return [[*self._states[path]] for path in self.paths]

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def light(self, columns: Sequence[str]) -> pa.Table:
        import pyarrow as pa

        tables = []
        for path in self.paths:
            with open_parquet(path, self._kind) as file, reading(path, "Parquet"):
                tables.append(select(file.read(columns=list(columns)), columns))
        with reading(self.paths[0], "Parquet"):
            return pa.concat_tables(tables, promote_options="permissive")

    def cells(self, column: str, positions: Sequence[int]) -> list[Any]:
        with self._lock:
            return [self._cell(column, position) for position in positions]

    def _cell(self, column: str, position: int) -> Any:
        number = bisect_right(self._ends, position)
        group, row = self._groups[number], position - (self._ends[number - 1] if number else 0)
        if size_and_time(group.path) != self._states[group.path]:
            reason = f"{group.path.name} has changed since it was listed"
            raise NotRead(reason, reason)
        if (column, number) not in self._cursors:
            self._cursors[column, number] = Cursor(group, column, self._kind)
        self._cursors.move_to_end((column, number))
        while len(self._cursors) > OPEN:
            self._cursors.popitem(last=False)
        return self._cursors[column, number].cell(row)


class Cursor:
    """A row group read forwards in one column, with the last batches that were read."""

    def __init__(self, group: RowGroup, column: str, kind: str) -> None:
        self._group, self._column, self._kind = group, column, kind
        size = group.uncompressed.get(column, 0)
        self._rows = max(1, min(MOST_IN_BATCH, BATCH * group.rows // max(size, 1)))
        if column in group.dictionaries and size > LARGE_DICTIONARY:
            self._rows = 1
        self._recent: OrderedDict[int, pa.Array] = OrderedDict()  # by their first rows
        self._begin()

    def cell(self, row: int) -> Any:
        """What stands in a row of the group."""
        if row < self._next and not any(start <= row < start + len(batch) for start, batch in self._recent.items()):
            self._begin()
        while row >= self._next:
            self._advance()
        start, batch = next((s, b) for s, b in self._recent.items() if s <= row < s + len(b))
        with reading(self._group.path, "Parquet"):
            return batch[row - start].as_py()

    def _begin(self) -> None:
        self._next = 0
        self._batches = self._read()

    def _advance(self) -> None:
        with reading(self._group.path, "Parquet"):
            batch = next(self._batches, None)
        if batch is None or not len(batch):
            raise UserError(f"{self._group.path} is damaged: it ends before row {self._next:,} of a row group")
        self._recent[self._next] = batch
        self._recent.move_to_end(self._next)
        self._next += len(batch)
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)

    def _read(self) -> Iterator[pa.Array]:
        with open_parquet(self._group.path, self._kind) as file:
            for batch in file.iter_batches(
                self._rows, row_groups=[self._group.number], columns=[self._column], use_threads=False
            ):
                yield batch.column(0)


@contextmanager
def open_parquet(path: Path, kind: str) -> Iterator[pq.ParquetFile]:
    """A Parquet file, open for so long; page checksums are verified, and columns are read in parts."""
    import pyarrow.parquet as pq

    with open_file(path, kind) as file:
        with reading(path, "Parquet"):
            parquet = pq.ParquetFile(file, page_checksum_verification=True, pre_buffer=False, buffer_size=MIB)
        yield parquet


def _groups(file: pq.ParquetFile, path: Path) -> list[RowGroup]:
    groups = []
    with reading(path, "Parquet"):
        for number in range(file.metadata.num_row_groups):
            meta = file.metadata.row_group(number)
            sizes: dict[str, int] = {}
            dictionaries = set()
            for place in range(meta.num_columns):
                chunk = meta.column(place)
                name = chunk.path_in_schema.partition(".")[0]
                sizes[name] = sizes.get(name, 0) + chunk.total_uncompressed_size
                if any("DICTIONARY" in encoding for encoding in chunk.encodings):
                    dictionaries.add(name)
            if meta.num_rows:
                groups.append(RowGroup(path, number, meta.num_rows, sizes, frozenset(dictionaries)))
    return groups
