"""Parquet files: a flipped byte of a page is noticed, and what is no regular file is not opened."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from snellen.errors import UserError
from snellen.files.parquet import read_parquet, read_parquet_schema


@pytest.fixture
def file(tmp_path: Path) -> Path:
    table = pa.table({"sample": [f"s{i}" for i in range(1000)], "score": np.random.default_rng(0).random(1000)})
    pq.write_table(table, tmp_path / "t.parquet", compression="none", write_page_checksum=True)
    return tmp_path / "t.parquet"


def test_columns_and_dictionaries_are_read_as_asked(file: Path) -> None:
    assert read_parquet(file).column_names == ["sample", "score"]
    table = read_parquet(file, ["sample"], dictionaries=["sample"])
    assert pa.types.is_dictionary(table["sample"].type)
    assert read_parquet_schema(file).names == ["sample", "score"]


def test_every_flipped_byte_of_a_page_is_noticed(file: Path) -> None:
    """Without checksums a flipped number would be another number."""
    content = file.read_bytes()
    start, stop = len(content) // 4, len(content) * 3 // 4
    for place in range(start, stop, 401):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(UserError, match="t.parquet cannot be read as Parquet"):
            read_parquet(file)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1 garbage PAR1", b"null", bytes(10_000)])
def test_garbage_is_one_line(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    for read in (read_parquet, read_parquet_schema):
        with pytest.raises(UserError, match="cannot be read as Parquet") as caught:
            read(file)
        assert "\n" not in str(caught.value)


def test_a_column_that_is_not_there_is_one_line(file: Path) -> None:
    with pytest.raises(UserError, match="t.parquet cannot be read as Parquet: .*other") as caught:
        read_parquet(file, ["other"])
    assert "\n" not in str(caught.value)


def test_a_pipe_holds_nobody_up(file: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.parquet")
    for read in (read_parquet, read_parquet_schema):
        with pytest.raises(UserError, match="is a pipe"):
            read(tmp_path / "pipe.parquet")
        with pytest.raises(UserError, match="no Parquet file"):
            read(tmp_path / "missing.parquet")
