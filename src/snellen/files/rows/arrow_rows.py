"""Rows of Arrow files, mapped: nothing is read before it is looked at. Or of a table that is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError
from snellen.files.net import reading
from snellen.files.plain import NotRead, file_size, map_bytes, open_file
from snellen.files.rows.row_source import check_count, select
from snellen.files.tree import size_and_time

if TYPE_CHECKING:
    import pyarrow as pa

_FILE = b"ARROW1"  # what the file format begins with; datasets writes streams


class ArrowRows:
    """The rows of a table, which lies in files that must stay as they are, or in memory; `state` is what tells it from others."""

    def __init__(self, table: pa.Table, state: Sequence[object], files: Sequence[Path] = ()) -> None:
        self.table, self.state = table, state
        self._files = {path: size_and_time(path) for path in files}
        check_count(len(table), str(files[0]) if files else "the table")

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    def __len__(self) -> int:
        return len(self.table)

    def light(self, columns: Sequence[str]) -> pa.Table:
        return select(self.table, columns)

    def cells(self, column: str, positions: Sequence[int]) -> list[Any]:
        for path, state in self._files.items():
            if size_and_time(path) != state:  # what is gone would end the process
                reason = f"{path.name} has changed since it was listed"
                raise NotRead(reason, reason)
        array = self.table.column(column)
        with reading(next(iter(self._files), "the table"), "Arrow"):
            return [array[position].as_py() for position in positions]


def map_arrow(paths: Sequence[Path], kind: str = "file") -> ArrowRows:
    """The rows of Arrow files, streams or files; offsets that lead out of them are refused."""
    import pyarrow as pa

    tables = []
    for path in paths:
        if not file_size(path, kind):
            raise UserError(f"{kind} '{path}' is empty; save the dataset again")
        with open_file(path, kind) as file:
            start = file.read(len(_FILE))
        content = map_bytes(path, kind)  # one at an address is copied whole: every column of it is looked at below
        with reading(path, "Arrow"):
            source = pa.BufferReader(pa.py_buffer(content))
            reader = pa.ipc.open_file(source) if start == _FILE else pa.ipc.open_stream(source)
            table = reader.read_all()
            table.validate(full=True)
        tables.append(table)
    for path, table in zip(paths, tables):
        if table.schema.names != tables[0].schema.names:
            raise UserError(f"{path} has other columns than {paths[0]}; save the dataset again")
    with reading(paths[0], "Arrow"):
        whole = pa.concat_tables(tables, promote_options="permissive")
    return ArrowRows(whole, [list(size_and_time(path)) for path in paths], paths)
