"""Tables from CSV and Parquet files: text as it is written, and columns of other types only where a schema names them.

Nothing is guessed from the values, so `000000` stays an id and `01` a class.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from snellen.errors import UserError
from snellen.files.net import reading
from snellen.files.plain import GIB, open_file, read_bytes

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LONGEST_CELL = 32_768  # characters


@dataclass(frozen=True)
class Column:
    """A column by schema: `text`, `float` or `int`; `required` ones must be there and `filled` ones have no empty cell.

    Numbers lie between `least` and `most`; an empty cell is nan. `also` is another name that is understood.
    """

    type: Literal["text", "float", "int"] = "text"
    required: bool = False
    filled: bool = False
    least: float = -1e15
    most: float = 1e15
    also: str | None = None


Schema = Mapping[str, Column]


def read_table(path: Path | str, schema: Schema, kind: str = "file", most: int = 2 * GIB) -> pd.DataFrame:
    """A CSV or `.parquet` file as a frame: the columns of the schema with their types, all others as they are written.

    In a CSV file all others are text. In a Parquet file they have the types of the file; those that are neither text,
    numbers, truth values nor times are left out.
    """
    path = Path(path)
    table = _read_parquet(path, kind) if path.suffix == ".parquet" else _read_csv(path, kind, most)
    table = table.rename(
        columns={c.also: name for name, c in schema.items() if c.also in table.columns and name not in table.columns}
    )
    for name, column in schema.items():
        if name in table.columns:
            table[name] = _typed(table[name], column, f"{path}", name)
        elif column.required:
            also = f" (or '{column.also}')" if column.also else ""
            listed = ", ".join(map(str, list(table.columns)[:20]))
            raise UserError(f"{path} has no column '{name}'{also}; it has: {listed}")
    return table


def line_of(row: int) -> int:
    """The line of a CSV file in which a row stands, counted from 1 with the header."""
    return row + 2


def _read_csv(path: Path, kind: str, most: int) -> pd.DataFrame:
    import pandas as pd

    content = read_bytes(path, kind, most)
    if not content.strip():
        raise UserError(f"{path} is empty; expected a line of column names, then one line per row")
    with reading(path, "CSV"), warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            cells = pd.read_csv(
                io.BytesIO(content),
                header=None,
                dtype=str,
                na_filter=False,
                skipinitialspace=True,
                index_col=False,
                encoding="utf-8-sig",
                encoding_errors="surrogateescape",  # names of files may have any bytes
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise UserError(f"{path} cannot be read as CSV: {_tokenizer_words(str(error))}") from None
    names = [str(name).strip() for name in cells.iloc[0]]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise UserError(f"{path} line 1: two columns are named '{repeated}'; rename one of them")
    table = cells.iloc[1:].fillna("").reset_index(drop=True)
    table.columns = pd.Index(names)
    for name in names:
        longest = int(table[name].str.len().max()) if len(table) else 0
        if longest > LONGEST_CELL:
            row = int(table[name].str.len().argmax())
            raise UserError(
                f"{path} line {line_of(row)}: '{name}' has {longest:,} characters, more than {LONGEST_CELL:,}"
            )
    return table


def _read_parquet(path: Path, kind: str) -> pd.DataFrame:
    import pyarrow.parquet as pq

    with open_file(path, kind) as file, reading(path, "Parquet"):
        source = pq.ParquetFile(file, page_checksum_verification=True)
        names = [field.name for field in source.schema_arrow if _is_plain(field.type)]
        table = source.read(columns=names)
        if len(set(names)) < len(names):
            raise UserError(f"{path} has two columns of one name; rename one of them")
        return table.to_pandas(ignore_metadata=True)


def _is_plain(type: pa.DataType) -> bool:
    import pyarrow.types as kinds

    if kinds.is_dictionary(type):
        return _is_plain(type.value_type)
    tests = (kinds.is_string, kinds.is_large_string, kinds.is_boolean, kinds.is_integer, kinds.is_floating)
    return any(test(type) for test in (*tests, kinds.is_date, kinds.is_timestamp))


def _typed(values: pd.Series, column: Column, path: str, name: str) -> pd.Series:
    """The column as its schema wants it."""
    texts = _as_text(values)
    if column.filled and (texts == "").any():
        raise UserError(f"{path} line {line_of(int((texts == '').argmax()))}: '{name}' is empty")
    return texts if column.type == "text" else _numbers(texts, column, path, name)


def _as_text(values: pd.Series) -> pd.Series:
    """Text cells as they are; numbers of a Parquet file as they print, missing ones as ''."""
    if values.dtype == object and len(values) and isinstance(values.iloc[0], str) and not values.isna().any():
        return values
    return values.astype(object).map(lambda cell: "" if cell is None or cell != cell else str(cell)).astype(object)


def _numbers(texts: pd.Series, column: Column, path: str, name: str) -> pd.Series:
    import pandas as pd

    numbers = pd.to_numeric(texts.where(texts != "", "nan"), errors="coerce").astype(float)
    wrong = ((numbers.isna() & (texts != "")) | ((numbers < column.least) | (numbers > column.most))).to_numpy()
    whole = column.type == "int"
    if whole:
        wrong = wrong | ((numbers % 1 != 0) & numbers.notna()).to_numpy()
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        wanted = "a whole number" if whole else "a number"
        raise UserError(
            f"{path} line {line_of(row)}: expected {wanted} in '{name}' {_bounds(column)}, got '{_short(texts[row])}'"
        )
    return numbers.astype(np.int64) if whole and numbers.notna().all() else numbers


def _bounds(column: Column) -> str:
    return f"from {column.least:g} to {column.most:g}"


def _short(text: Any) -> str:
    return str(text) if len(str(text)) <= 60 else f"{str(text)[:60]}…"


def _tokenizer_words(text: str) -> str:
    """What pandas says of a malformed file, in lines counted from 1."""
    reason = text.strip().splitlines()[0].removeprefix("Error tokenizing data. C error: ")
    return re.sub(r"(starting )?at row (\d+)", lambda match: f"in line {int(match[2]) + 1}", reason)
