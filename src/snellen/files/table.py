"""Tables from CSV and Parquet files: text as it is written, and columns of other types only where a schema names them.

Nothing is guessed from the values, so `000000` stays an id and `01` a class.
"""

from __future__ import annotations

import codecs
import io
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from snellen.errors import UserError
from snellen.files.net import reading
from snellen.files.plain import GIB, MIB, expand_home, file_size, format_size, open_file, read_bytes

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LONGEST_CELL = 32_768  # characters
_MEANING = {"text": "text", "float": "numbers", "int": "whole numbers"}
MOST_COLUMNS = 10_000
MOST_LISTED = 160  # characters of names of columns in a message
MOST_ROWS = 50_000_000  # of a Parquet file, in which a repeated row takes no room


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
    path = expand_home(path) if isinstance(path, str) else path
    table = _read_parquet(path, kind, most) if path.suffix == ".parquet" else _read_csv(path, kind, most)
    table = table.rename(
        columns={c.also: name for name, c in schema.items() if c.also in table.columns and name not in table.columns}
    )
    for name, column in schema.items():
        for odd in {name, column.also} & table.attrs.get("left_out", {}).keys():
            raise UserError(
                f"{path}: column '{odd}' holds {table.attrs['left_out'][odd]}; expected {_MEANING[column.type]}"
            )
        if name in table.columns:
            table[name] = _typed(table[name], column, path, name)
        elif column.required:
            also = f" (or '{column.also}')" if column.also else ""
            listed = _listed(list(table.columns))
            commas = "; separate columns by commas" if len(table.columns) == 1 and re.search(r"[;\t|]", listed) else ""
            raise UserError(f"{path} has no column '{name}'{also}; it has: {listed}{commas}")
    return table


def column_names(path: Path, kind: str = "file") -> frozenset[str]:
    """The names of a table's columns, from the beginning of a CSV file or the schema of a `.parquet` one."""
    with open_file(path, kind) as file:
        if path.suffix != ".parquet":
            line = re.split(rb"[\r\n]", file.read(MIB).lstrip(), maxsplit=1)[0].removeprefix(codecs.BOM_UTF8)
            return frozenset(name.strip().strip('"') for name in line.decode("utf-8", "replace").split(","))
        import pyarrow.parquet as pq

        with reading(path, "Parquet"):
            return frozenset(pq.ParquetFile(file).schema_arrow.names)


def line_of(row: int) -> int:
    """The line of a CSV file in which a row stands, counted from 1 with the header."""
    return row + 2


def place_of(path: Path | str, row: int) -> str:
    """Where a row stands, to begin an error with: `a.csv line 3`, or `a.parquet row 2`."""
    return f"{path} row {row + 1}" if str(path).endswith(".parquet") else f"{path} line {line_of(row)}"


def _read_csv(path: Path, kind: str, most: int) -> pd.DataFrame:
    import pandas as pd

    content = read_bytes(path, kind, most)
    if not content.strip():
        raise UserError(f"{path} is empty; expected a line of column names, then one line per row")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(f"{path} is UTF-16; save it as UTF-8")
    if re.split(rb"[\r\n]", content.lstrip(), maxsplit=1)[0].count(b",") >= MOST_COLUMNS:
        raise UserError(f"{path} line 1: more than {MOST_COLUMNS:,} columns")
    with reading(path, "CSV"), warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            cells = pd.read_csv(
                io.BytesIO(content),
                header=None,
                dtype=object,
                na_filter=False,
                skipinitialspace=True,
                index_col=False,
                encoding="utf-8-sig",
                encoding_errors="surrogateescape",  # names of files may have any bytes
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise UserError(f"{path} cannot be read as CSV: {_tokenizer_words(str(error))}") from None
    names = _names([str(name).strip() for name in cells.iloc[0]], f"{path} line 1")
    table = cells.iloc[1:].fillna("").reset_index(drop=True)
    table.columns = pd.Index(names)
    for name in names:
        _check_lengths(table[name].to_numpy(), path, name)
    return table


def _read_parquet(path: Path, kind: str, most: int) -> pd.DataFrame:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyarrow.types as kinds

    if file_size(path, kind) > most:
        raise UserError(f"{kind} '{path}' is larger than {format_size(most)}, the most that is read")
    with open_file(path, kind) as file, reading(path, "Parquet"):
        every_field = list(pq.ParquetFile(file).schema_arrow)
        fields = [field for field in every_field if _is_plain(field.type)]
        words = [field.name for field in fields if kinds.is_string(field.type) or kinds.is_large_string(field.type)]
        # As a dictionary, so that a word that a small file repeats a million times takes memory once.
        source = pq.ParquetFile(file, page_checksum_verification=True, read_dictionary=words)
        if source.metadata.num_rows > MOST_ROWS:
            raise UserError(f"{path} has {source.metadata.num_rows:,} rows, more than {MOST_ROWS:,}")
        names = _names([field.name for field in fields], str(path))
        content = source.read(columns=[field.name for field in fields])
        columns = {name: _values(column, pa) for name, column in zip(names, content.columns)}
        table = pd.DataFrame(columns, columns=pd.Index(names, dtype=object))
        table.attrs["left_out"] = {field.name: _short(field.type) for field in every_field if field not in fields}
    for name in names:
        if table[name].dtype == object:
            _check_lengths(table[name].to_numpy(), path, name)
    return table


def _values(column: pa.ChunkedArray, pa: Any) -> Any:
    """A column's values; words, which are few, shared by their rows."""
    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.float32()).to_pandas() if column.type == pa.float16() else column.to_pandas()
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    words = np.array([*whole.dictionary.to_pylist(), None], object)
    return words[whole.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False).astype(np.int64)]


def _names(names: list[str], place: str) -> list[str]:
    """The names of the columns; those without one get a number, and no two are the same."""
    names = [
        name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") or f"Unnamed: {number}"
        for number, name in enumerate(names)
    ]
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise UserError(f"{place}: two columns are named '{_short(repeated)}'; rename one of them")
    return names


def _check_lengths(cells: np.ndarray, path: Path, name: str) -> None:
    lengths = np.fromiter((len(cell) if isinstance(cell, str) else 0 for cell in cells), np.int64, len(cells))
    if len(lengths) and lengths.max() > LONGEST_CELL:
        where = place_of(path, int(lengths.argmax()))
        raise UserError(f"{where}: '{name}' has {lengths.max():,} characters, more than {LONGEST_CELL:,}")


def _is_plain(type: pa.DataType) -> bool:
    import pyarrow.types as kinds

    if kinds.is_dictionary(type):
        return _is_plain(type.value_type)
    tests = (kinds.is_string, kinds.is_large_string, kinds.is_boolean, kinds.is_integer, kinds.is_floating)
    return any(test(type) for test in (*tests, kinds.is_date, kinds.is_timestamp))


def _typed(values: pd.Series, column: Column, path: Path, name: str) -> pd.Series:
    """The column as its schema wants it."""
    if column.type != "text" and values.dtype.kind in "iuf":
        return _bounded(values.astype(float), values, column, path, name)
    texts = _as_text(values)
    if column.filled and (texts == "").any():
        raise UserError(f"{place_of(path, int((texts == '').argmax()))}: '{name}' is empty")
    return texts if column.type == "text" else _numbers(texts, column, path, name)


def _as_text(values: pd.Series) -> pd.Series:
    """Text cells as they are; others as they print, missing ones as ''."""
    if values.dtype.kind == "f":
        known = values[values.notna()]
        if (known % 1 == 0).all() and (known.abs() < 2**53).all():  # one missing cell makes whole numbers floats
            return _words(values, ["" if cell != cell else str(int(cell)) for cell in values])
    return _words(values, [_cell_text(cell) for cell in values.to_numpy(object)])


def _words(like: pd.Series, words: list[str]) -> pd.Series:
    """A column of words, as Python has them: only they may hold bytes that are not UTF-8."""
    import pandas as pd

    return pd.Series(words, like.index, dtype=object)


def _cell_text(cell: Any) -> str:
    return cell if isinstance(cell, str) else "" if cell is None or cell != cell else str(cell)


def _numbers(texts: pd.Series, column: Column, path: Path, name: str) -> pd.Series:
    import pandas as pd

    texts = texts.str.strip()
    numbers = pd.to_numeric(texts.where(texts != "", "nan"), errors="coerce").astype(float)
    wrong = (numbers.isna() & (texts != "")).to_numpy()
    return _bounded(numbers, texts, column, path, name, wrong)


def _bounded(
    numbers: pd.Series, cells: pd.Series, column: Column, path: Path, name: str, wrong: np.ndarray | None = None
) -> pd.Series:
    """The numbers, if they are what the schema wants; `wrong` are cells that are no numbers at all."""
    outside = ((numbers < column.least) | (numbers > column.most)).to_numpy()
    wrong = outside if wrong is None else wrong | outside
    whole = column.type == "int"
    if whole:
        wrong = wrong | ((numbers % 1 != 0) & numbers.notna()).to_numpy()
    if column.filled:
        wrong = wrong | numbers.isna().to_numpy()
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        wanted = "a whole number" if whole else "a number"
        where = place_of(path, row)
        raise UserError(f"{where}: expected {wanted} in '{name}' {_bounds(column)}, got '{_short(cells[row])}'")
    return numbers.astype(np.int64) if whole and numbers.notna().all() else numbers


def _bounds(column: Column) -> str:
    return f"from {column.least:g} to {column.most:g}"


def _listed(names: Sequence[Any]) -> str:
    """The first names, as many as a reader takes in at a glance."""
    shorter = [_short(name) for name in names]
    reached = itertools.accumulate(len(name) + 2 for name in shorter)
    few = [name for name, length in zip(shorter, reached) if length <= MOST_LISTED]
    return ", ".join(few if len(few) == len(names) else [*few, "…"])


def _short(text: Any) -> str:
    return str(text) if len(str(text)) <= 60 else f"{str(text)[:60]}…"


def _tokenizer_words(text: str) -> str:
    """What pandas says of a malformed file, in lines counted from 1."""
    reason = text.strip().splitlines()[0].removeprefix("Error tokenizing data. C error: ")
    return re.sub(r"(starting )?at row (\d+)", lambda match: f"in line {int(match[2]) + 1}", reason)
