"""`parquet:file.parquet?image=image&label=label`: images as bytes in a column of one or several Parquet files.

Several are named by `{000..099}`, `{train,val}` or `*`; a folder stands for all below it. Class names are those that Hugging
Face's library wrote into the file, `?names=FILE`, or the labels' own. Other options: `image_table`.
"""

from __future__ import annotations

from collections.abc import Mapping

from snellen.data.dataset import Dataset
from snellen.data.features import features_of
from snellen.data.image_table import table_dataset
from snellen.errors import UserError
from snellen.files.braces import files_of
from snellen.files.places import is_folder
from snellen.files.rows.parquet_rows import ParquetRows
from snellen.files.tree import files_below


def load_parquet(path: str, options: Mapping[str, str]) -> Dataset:
    """The rows of all files, in their order."""
    files = files_of(path)
    if len(files) == 1 and is_folder(files[0]):
        folder = files[0]
        files = files_below(folder, {".parquet"})
        if not files:
            raise UserError(f"folder '{path}' holds no Parquet files; name them, as parquet:{path}/part-*.parquet")
    rows = ParquetRows(files)
    return table_dataset(f"parquet:{path}", rows, features_of(rows.schema, str(files[0])), files[0].parent, options)
