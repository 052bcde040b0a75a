"""One Parquet file of the store: named by its shard and its checksum, there whole or not at all, typed when it is read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from snellen.atomic import remove, write_atomic
from snellen.errors import UserError
from snellen.files import open_file
from snellen.files.parquet import read_parquet, read_parquet_schema
from snellen.hashing import checksum

if TYPE_CHECKING:
    import pyarrow as pa

_ANSWERS = {
    **dict.fromkeys(("cell", "sample"), "text"),
    **dict.fromkeys(("pred", "raw"), "int"),
    **dict.fromkeys(("score", "confidence", "label_prob"), "float"),
    "counts": "ints",
}
TYPES: dict[str, dict[str, str]] = {  # table → column → what it holds; others are as the data or the trial have them
    "cells": {
        **dict.fromkeys(("cell", "shown", "model", "run", "on", "data", "distortion", "version", "canvas"), "text"),
        **dict.fromkeys(("precision", "rule", "model_fingerprint", "data_fingerprint", "map"), "text"),
        **dict.fromkeys(("seed", "samples"), "int"),
    },
    "samples": {
        **dict.fromkeys(("on", "sample", "class", "checksum", "error"), "text"),
        **dict.fromkeys(("label", "height", "width"), "int"),
    },
    "shown": {
        **dict.fromkeys(("shown", "sample", "donor", "donor_class"), "text"),
        **dict.fromkeys(("covered", "object_covered"), "float"),
        "excluded": "truth",
    },
    "answers": _ANSWERS,
    "maps": {"sample": "text", "height": "int", "width": "int", "map": "bytes"},
    "trials": {"cell": "text", "sample": "text", "asked": "int", "error": "text"},
    "searches": {"cell": "text", "evaluation": "int", "edits": "text", "value": "float"},
    "surveys": {"cell": "text", "unit": "int", "activation": "int", "threshold": "float"},
}
FILLED: dict[str, tuple[str, ...]] = {  # table → columns that every file has, without an empty cell
    "answers": ("cell", "sample", "pred", "raw"),
    "maps": ("sample", "height", "width"),
    "samples": ("on", "sample", "label"),
    "shown": ("shown", "sample"),
    "trials": ("cell", "sample", "asked", "error"),
    "searches": ("cell", "evaluation", "edits"),
    "surveys": ("cell", "unit"),
}


def shard_of(file: Path) -> int:
    """The number of the shard that a file holds; −1 where its name tells none."""
    number = file.stem.partition("-")[0]
    return int(number) if number.isdecimal() else -1


def shard_files(folder: Path) -> list[Path]:
    """The files of a folder's shards in their order, which is that of the listing; one whose name tells no shard is refused."""
    files = sorted(folder.glob("*.parquet"), key=shard_of)
    if files and shard_of(files[0]) < 0:
        raise UserError(f"'{files[0]}' has no name of a part of a run; give it its own again, or take it away")
    return files


def shard_file(folder: Path, shard: int) -> Path | None:
    """The file of a shard, if it is there."""
    return next(folder.glob(f"{shard:06d}-*.parquet"), None)


def is_whole(file: Path) -> bool:
    """Whether a shard's file holds what its name says."""
    try:
        with open_file(file) as opened:
            digest = hashlib.file_digest(cast(Any, opened), lambda: hashlib.blake2b(digest_size=16))  # as in `checksum`
    except (UserError, OSError):
        return False
    return digest.hexdigest() == file.stem.partition("-")[2]


def table_of(file: Path) -> str:
    """The table that a file belongs to."""
    return "cells" if file.name == "cells.parquet" else file.parent.parent.name


def read_rows(
    path: Path, columns: Sequence[str] | None = None, filters: Any = None, dictionaries: Sequence[str] = ()
) -> pa.Table:
    """The rows of one of our Parquet files; a damaged one is named, with how to repair it."""
    try:
        table = read_parquet(path, columns, filters, dictionaries)
        _check_types(path, table)
        _check_filled(path, table, columns)
        if table_of(path) == "maps" and columns is None:
            _check_sides(path, table)
    except UserError as error:
        raise damaged(path) from error
    return table


def read_schema(path: Path) -> pa.Schema:
    """The columns of one of our Parquet files and what its header says."""
    try:
        return read_parquet_schema(path)
    except UserError as error:
        raise damaged(path) from error


def damaged(path: Path) -> UserError:
    """The error for a stored file that cannot be read."""
    return UserError(f"{path} is damaged or missing; run the `snellen audit` command that made it again to repair it")


def write_table(folder: Path, shard: int, table: pa.Table) -> Path:
    """Write a shard's table and give its file; an older file of the same shard, which a killed run may have left, goes first."""
    content = encode(table)
    path = folder / f"{shard:06d}-{checksum(content)}.parquet"
    for older in folder.glob(f"{shard:06d}-*.parquet"):
        remove(older)
    write_atomic(path, content)
    return path


def encode(table: pa.Table) -> memoryview:
    """A table as the bytes of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferOutputStream()
    # Maps are most of what a run writes: lz4 keeps up with a fast GPU, where zstd would be waited for.
    how = {"compression": "lz4", "use_dictionary": False} if "map" in table.column_names else {"compression": "zstd"}
    pq.write_table(table, buffer, write_page_checksum=True, **how)
    return memoryview(buffer.getvalue())


def _check_types(path: Path, table: pa.Table) -> None:
    import pyarrow.types as types

    tests: dict[str, Callable[[Any], bool]] = {
        "text": lambda type: types.is_string(type) or types.is_large_string(type),
        "int": types.is_integer,
        "float": types.is_floating,
        "truth": types.is_boolean,
        "bytes": types.is_fixed_size_binary,
        "ints": lambda type: types.is_list(type) and types.is_integer(type.value_type),
    }
    for name, kind in TYPES.get(table_of(path), {}).items():
        if name in table.column_names:
            type = table.schema.field(name).type
            type = type.value_type if types.is_dictionary(type) else type
            if not (types.is_null(type) or tests[kind](type)):
                raise UserError(f"{path}: expected {kind} in '{name}', got {type}")


def _check_filled(path: Path, table: pa.Table, columns: Sequence[str] | None) -> None:
    """Refuse a table that lacks one of its columns (of those that are read), or has an empty cell in it."""
    name = table_of(path)
    needed = (*FILLED.get(name, ()), *(("map",) if name == "maps" else ()))
    for column in needed if columns is None else [wanted for wanted in needed if wanted in columns]:
        if column not in table.column_names:
            raise UserError(f"{path} has no column '{column}'")
        if column != "map" and table[column].null_count:
            raise UserError(f"{path}: '{column}' has an empty cell")


def _check_sides(path: Path, table: pa.Table) -> None:
    """Refuse maps whose height and width are not those of their pixels of one or two bytes, the same for all."""
    import pyarrow.compute as pc

    sides = [pc.unique(table[side]).to_pylist() for side in ("height", "width")]
    size = table["map"].type.byte_width
    if [len(values) for values in sides] != [1, 1] or size not in (pixels := sides[0][0] * sides[1][0], 2 * pixels):
        raise UserError(f"{path}: expected maps of one height and width, got {str(sides)[:60]}")
