"""The answers of a run as one CSV or Parquet file, which `predictions:` reads again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from snellen.atomic import writing
from snellen.engine.keep.run_folder import RunFolder
from snellen.export.answer_rows import answer_rows, schema
from snellen.files.spreadsheet import quoted_cell

if TYPE_CHECKING:
    import pyarrow as pa


def write_parquet(run: RunFolder, path: Path) -> None:
    """A Parquet file, a row group or more per shard."""
    write_rows(run, path)


def write_rows(run: RunFolder, path: Path, on: str | None = None) -> int:
    """The same of one role of the data; how many rows it has."""
    import pyarrow.parquet as pq

    count = 0
    with (
        writing(path) as file,
        pq.ParquetWriter(file, _plain(schema()), compression="zstd", write_page_checksum=True) as writer,
    ):
        for shard in answer_rows(run, on):
            writer.write_table(shard.answers.cast(_plain(schema())))
            count += len(shard.answers)
    return count


def write_csv(run: RunFolder, path: Path) -> None:
    """A CSV file in UTF-8; text that a spreadsheet would run as a formula stands behind an apostrophe."""
    import pyarrow.csv as csv

    with writing(path) as file, csv.CSVWriter(file, _plain(schema())) as writer:
        for shard in answer_rows(run):
            writer.write_table(_harmless(shard.answers).cast(_plain(schema())))


def _plain(schema: pa.Schema) -> pa.Schema:
    """The schema with words as words."""
    import pyarrow as pa

    types = ((field.name, field.type.value_type if _is_words(field) else field.type) for field in schema)
    return pa.schema(list(types))


def _is_words(field: pa.Field) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(field.type))


def _harmless(table: pa.Table) -> pa.Table:
    """The table with every word as a spreadsheet may have it; each is looked at once."""
    import pyarrow as pa

    table = table.combine_chunks()
    for place, field in enumerate(table.schema):
        if _is_words(field):
            parts = [
                pa.DictionaryArray.from_arrays(
                    part.indices, pa.array(map(quoted_cell, part.dictionary.to_pylist()), pa.string())
                )
                for part in table.column(place).chunks
            ]
            table = table.set_column(place, field, pa.chunked_array(parts, field.type))
    return table
