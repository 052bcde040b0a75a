"""The table of a matrix: how each row ranks under occluders, and how accurate it is without, with intervals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.atomic import write_atomic
from snellen.errors import UserError, unknown
from snellen.exam.run import Run
from snellen.files import read_json
from snellen.files.plain import place_here
from snellen.files.spreadsheet import to_csv
from snellen.version import __version__

if TYPE_CHECKING:
    import pandas as pd

# What the table shows of the audit `occluders`: its finding, and whether it is there for each family and level.
MEASURES: Mapping[str, bool] = {"unoccluded_accuracy": False, "mean_rank": True, "occlusion_residual": True}


@dataclass(frozen=True)
class MatrixValue:
    """One number of a row: a measure, over which images (`where`, such as `synthetic, level 1`), and its 95% interval."""

    row: str
    measure: str
    where: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None = None


@dataclass(frozen=True)
class TrainedRow:
    """What a row was trained with: the settings its grid chose, the held-out accuracy, and the networks."""

    name: str
    arch: str
    mix: str
    robust: str
    init: str | None
    trials: int
    chosen: Mapping[str, Any]
    held_out_accuracy: float | None
    networks: Sequence[str]


@dataclass(frozen=True)
class Matrix:
    """A finished matrix: its folder, what was trained, the numbers, and the run of the audit."""

    folder: Path
    rows: Sequence[TrainedRow]
    values: Sequence[MatrixValue]
    run: Run

    def table(self) -> pd.DataFrame:
        """One row per row of the matrix, measure and images: value, low, high (95%), p where there is a test."""
        import pandas as pd

        numbers = dict.fromkeys(("value", "low", "high", "p"), float)
        return pd.DataFrame([asdict(value) for value in self.values], columns=list(_COLUMNS)).astype(numbers)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        run = self.run.path.relative_to(self.folder)
        return asdict(StoredMatrix(__version__, str(run), list(self.rows), list(self.values)))

    @property
    def head(self) -> list[tuple[str, str]]:
        """Every measure and its images, in order."""
        order = list(MEASURES)
        pairs = dict.fromkeys((value.measure, value.where) for value in self.values)
        return sorted(pairs, key=lambda pair: order.index(pair[0]))

    def of(self, row: str, measure: str, where: str) -> MatrixValue | None:
        """One number."""
        wanted = (row, measure, where)
        return next((value for value in self.values if (value.row, value.measure, value.where) == wanted), None)


@dataclass(frozen=True)
class StoredMatrix:
    """What matrix.json holds; `run` is the run's place in the folder."""

    snellen: str
    run: str
    rows: list[TrainedRow]
    values: list[MatrixValue]


_COLUMNS = tuple(MatrixValue.__dataclass_fields__)


def values_of(run: Run, rows: Sequence[str]) -> list[MatrixValue]:
    """What the audit `occluders` says of each row; nothing where it was not asked."""
    values = []
    for finding in run.stored_findings():
        if finding.name not in MEASURES or finding.model not in rows or finding.audit != "occluders":
            continue
        facts = finding.plain_facts
        images = "real" if facts.get("real") else facts.get("family")
        where = f"{images}, level {facts['level']}" if MEASURES[finding.name] and "level" in facts else ""
        values.append(
            MatrixValue(
                finding.model, finding.name, where, finding.value, finding.low, finding.high, facts.get("p_holm")
            )
        )
    return values


def write_matrix(matrix: Matrix) -> None:
    """matrix.csv, the tidy table, and matrix.json, all of it."""
    write_atomic(matrix.folder / "matrix.csv", to_csv(matrix.table()).encode())
    text = json.dumps(matrix.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomic(matrix.folder / "matrix.json", (text + "\n").encode())


def load_matrix(folder: Path | str) -> Matrix:
    """The matrix in a folder."""
    folder = place_here(folder, "the folder of a matrix")
    path = folder / "matrix.json"
    if not path.exists():
        raise UserError(f"'{folder}' holds no matrix.json; give the --out of a matrix that has ended")
    stored: StoredMatrix = read_json(path, StoredMatrix)
    for value in stored.values:
        if value.measure not in MEASURES:
            raise UserError(f"{path}: {unknown('measure', value.measure, MEASURES)}")
    return Matrix(folder, stored.rows, stored.values, Run(folder / stored.run))
