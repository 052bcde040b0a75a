"""Tables: CSV as spreadsheets and people break it, and Parquet with columns of other types."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from . import nasty
from .unfit import Unfit, fitting

Rows = list[list[str]]


def set_cell(rows: Rows, draw: Random) -> None:
    row = draw.choice(rows[1:] or rows)
    if row:
        row[draw.randrange(len(row))] = nasty.text(draw)


def set_column(rows: Rows, draw: Random) -> None:
    column, text = draw.randrange(len(rows[0])), nasty.text(draw)
    for row in rows[1:]:
        if column < len(row):
            row[column] = text


def rename_column(rows: Rows, draw: Random) -> None:
    rows[0][draw.randrange(len(rows[0]))] = draw.choice([nasty.text(draw), rows[0][0], rows[0][-1]])


def remove_column(rows: Rows, draw: Random) -> None:
    column = draw.randrange(len(rows[0]))
    for row in rows:
        del row[column : column + 1]


def swap_columns(rows: Rows, draw: Random) -> None:
    first, second = draw.randrange(len(rows[0])), draw.randrange(len(rows[0]))
    for row in rows[1:]:
        if max(first, second) < len(row):
            row[first], row[second] = row[second], row[first]


def add_column(rows: Rows, draw: Random) -> None:
    name = nasty.text(draw)
    for number, row in enumerate(rows):
        row.insert(draw.choice([0, len(row)]), nasty.text(draw) if number else name)


def repeat_row(rows: Rows, draw: Random) -> None:
    rows += [list(draw.choice(rows))] * draw.choice([1, 2, 300])


def remove_rows(rows: Rows, draw: Random) -> None:
    del rows[draw.randrange(len(rows)) :]


def lengthen_row(rows: Rows, draw: Random) -> None:
    draw.choice(rows).extend([nasty.text(draw)] * draw.choice([1, 3, 5000]))


def shorten_row(rows: Rows, draw: Random) -> None:
    row = draw.choice(rows)
    del row[draw.randrange(len(row) + 1) :]


def remove_head(rows: Rows, draw: Random) -> None:
    del rows[0]


EDITS: tuple[Callable[[Rows, Random], None], ...] = (
    *(set_cell, set_cell, set_cell, set_column, rename_column, remove_column, swap_columns, add_column),
    *(repeat_row, remove_rows, lengthen_row, shorten_row, remove_head),
)
WRITTEN: tuple[dict[str, Any], ...] = (
    *({"delimiter": ","},) * 6,
    {"delimiter": ";"},
    {"delimiter": "\t"},
    {"lineterminator": "\r"},
    {"quoting": csv.QUOTE_ALL},
    {"quotechar": "'"},
)


def mutate_csv(file: Path, draw: Random) -> str:
    if draw.random() < 0.15:
        return _recode(file, draw)
    with fitting():
        rows = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8-sig", errors="surrogateescape"))))
    if not rows or not rows[0]:
        raise Unfit
    edit = draw.choice(EDITS)
    edit(rows, draw)
    stream = io.StringIO()
    with fitting():
        csv.writer(stream, **{"lineterminator": "\n", **draw.choice(WRITTEN)}).writerows(rows)
    file.write_bytes(stream.getvalue().encode(errors="surrogatepass"))
    return f"cells: {edit.__name__}"


def _recode(file: Path, draw: Random) -> str:
    """The same text in another encoding, or with what no encoding has."""
    text = file.read_bytes().decode(errors="replace")
    how = draw.choice(["utf-16", "utf-32", "latin-1", "utf-8-sig", "quote", "nul", "formula", "comment"])
    odd = {
        "quote": lambda: text.replace(",", ',"', 1),
        "nul": lambda: text.replace(",", "\x00,", 1),
        "formula": lambda: text.replace("\n", "\n=1+1,", 1),
        "comment": lambda: f"# {text}",
    }
    file.write_bytes(odd[how]().encode() if how in odd else text.encode(how, errors="replace"))
    return f"cells: {how}"


def mutate_parquet(file: Path, draw: Random) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with fitting():
        table = pq.read_table(io.BytesIO(file.read_bytes()))
    if not table.num_columns:
        raise Unfit
    column = draw.randrange(table.num_columns)
    name = table.column_names[column]
    how = draw.choice(
        ["retype", "retype", "retype", "rename", "remove", "add", "twice", "no rows", "rows", "metadata", "null"]
    )
    if how == "retype":
        table = table.set_column(column, name, strange_column(len(table), draw))
    elif how == "rename":
        names = list(table.column_names)
        names[column] = nasty.text(draw).encode(errors="replace").decode()
        table = table.rename_columns(names)
    elif how == "remove":
        table = table.remove_column(column)
    elif how == "add":
        table = table.append_column(
            nasty.text(draw).encode(errors="replace").decode(), strange_column(len(table), draw)
        )
    elif how == "twice":
        table = table.append_column(name, table.column(column))
    elif how == "no rows":
        table = table.slice(0, 0)
    elif how == "rows":
        table = pa.concat_tables([table] * draw.choice([2, 5]))
    elif how == "metadata":
        words = [b"", b"{", b"null", b'{"index_columns": ["none"], "columns": [{}]}', b"[1]", b"\xff"]
        table = table.replace_schema_metadata({b"pandas": draw.choice(words), b"ARROW:schema": b"x"})
    else:
        table = table.set_column(column, name, pa.nulls(len(table), table.schema.field(column).type))
    stream = io.BytesIO()
    with fitting():  # Parquet has not all types
        pq.write_table(table, stream)
    file.write_bytes(stream.getvalue())
    return f"cells: {how} {name}"


def strange_column(rows: int, draw: Random) -> Any:
    """A column of a type that no schema of ours has, or with values that none allows."""
    import pyarrow as pa

    makers: tuple[Callable[[], Any], ...] = (
        lambda: pa.array([b"\xff\x00"] * rows, pa.binary()),
        lambda: pa.array([[1, 2]] * rows),
        lambda: pa.array([{"a": 1}] * rows),
        lambda: pa.array(["x"] * rows).dictionary_encode(),
        lambda: pa.nulls(rows),
        lambda: pa.array([2**62] * rows, pa.timestamp("us")),
        lambda: pa.array([2**62] * rows, pa.duration("s")),
        lambda: pa.array([2**31 - 1] * rows, pa.date32()),
        lambda: pa.array(["9" * 60] * rows).cast(pa.decimal256(70, 2)),
        lambda: pa.array([True] * rows),
        lambda: pa.array([2**64 - 1] * rows, pa.uint64()),
        lambda: pa.array([float("nan")] * rows, pa.float32()),
        lambda: pa.array([1e300] * rows),
        lambda: pa.array([-1] * rows, pa.int8()),
        lambda: pa.array([1] * rows, pa.time64("us")),
        lambda: pa.array([[("k", 1)]] * rows, pa.map_(pa.string(), pa.int64())),
        lambda: pa.array([nasty.text(draw).encode(errors="replace").decode() for _ in range(rows)]),
        lambda: pa.array([nasty.text(draw).encode(errors="replace").decode() for _ in range(rows)], pa.large_string()),
    )
    return draw.choice(makers)()
