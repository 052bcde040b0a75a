"""Parquet files as Arrow tables: page checksums are verified, and whatever Arrow raises names the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.files.net import reading
from snellen.files.plain import local_name

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(
    path: Path | str,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    dictionaries: Sequence[str] = (),
    kind: str = "Parquet file",
) -> pa.Table:
    """The columns of a Parquet file, all where none are named; `dictionaries` come as such."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with local_name(path, kind) as name, reading(path, "Parquet"), pa.OSFile(str(name)) as file:
        return pq.read_table(
            file,
            columns=None if columns is None else list(columns),
            filters=filters,
            read_dictionary=list(dictionaries) or None,
            page_checksum_verification=True,
        )


def read_parquet_schema(path: Path | str, kind: str = "Parquet file") -> pa.Schema:
    """The columns of a Parquet file and what its header says beside them; no row is read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with local_name(path, kind) as name, reading(path, "Parquet"), pa.OSFile(str(name)) as file:
        return pq.read_schema(file)
