"""`provenance.csv` of a built set: where each file comes from, read by a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files.places import exists
from snellen.files.table import Column, line_of, read_table

if TYPE_CHECKING:
    import pandas as pd

BOX = ("x0", "y0", "x1", "y1")
SCHEMA = {
    **{name: Column(required=True, filled=True) for name in ("variant", "split", "file")},
    "foreground": Column(required=True),
    **{name: Column("float", required=True, least=-1e6, most=1e6) for name in BOX},
    "mask_share": Column("float", least=0, most=1),
    **{name: Column() for name in ("background", "background_class", "coarse_class", "source")},
}


@dataclass(frozen=True)
class Provenance:
    """The rows of some files (by position, −1 where a file has none) in a table; without one nothing is known."""

    table: pd.DataFrame | None
    rows: np.ndarray

    def texts(self, column: str) -> list[str]:
        """What a column says of each file, '' where it says nothing."""
        if self.table is None or column not in self.table.columns:
            return [""] * len(self.rows)
        cells = [storable(cell) for cell in self.table[column].tolist()]
        return [cells[row] if row >= 0 else "" for row in self.rows.tolist()]

    def numbers(self, column: str) -> np.ndarray:
        """float [n]: the same of a column of numbers, nan where it says nothing."""
        if self.table is None or column not in self.table.columns:
            return np.full(len(self.rows), np.nan)
        return np.append(self.table[column].to_numpy(float), np.nan)[self.rows]


def read_provenance(file: Path, variant: str, split: str, stems: Sequence[str]) -> Provenance:
    """What the manifest says of a variant's files, named without ending; nothing where there is no manifest."""
    if not exists(file):
        return Provenance(None, np.full(len(stems), -1))
    try:
        table = read_table(file, SCHEMA)
    except UserError as error:
        raise UserError(f"{error}; build the set again, or remove the file") from None
    _check_names(table, file)
    own = ((table["variant"] == variant) & (table["split"] == split)).to_numpy()
    names: Mapping[str, int] = {
        storable(PurePosixPath(table["file"].iloc[row]).stem): int(row) for row in np.flatnonzero(own)
    }
    return Provenance(table, np.array([names.get(stem, -1) for stem in stems], np.int64))


def _check_names(table: pd.DataFrame, file: Path) -> None:
    """A foreground names a file of the set, so it may not lead out of it."""
    for row, name in enumerate(table["foreground"].tolist()):
        if "/" in name or name in (".", ".."):
            raise UserError(f"{file} line {line_of(row)}: foreground '{name[:60]}' is not the name of a file")
