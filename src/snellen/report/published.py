"""Published values of the papers, to set beside what was measured. Only reports and documentation read them."""

from __future__ import annotations

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

PUBLISHED = Path(__file__).parents[1] / "published"


@dataclass(frozen=True)
class PublishedValue:
    """One value as printed, in its `unit`; `note` says whose weights it belongs to. `sd` is None where it is not printed."""

    paper: str
    table: str
    row: str
    column: str
    value: float
    sd: float | None
    unit: str
    note: str


@functools.cache
def published(paper: str) -> tuple[PublishedValue, ...]:
    """All values of a paper, such as `xiao2021`, in the order of its tables."""
    with (PUBLISHED / f"{paper}.csv").open(newline="", encoding="utf-8") as file:
        return tuple(
            PublishedValue(
                **{**row, "value": float(row["value"]), "sd": float(row["sd"]) if row["sd"] else None}  # type: ignore[arg-type]
            )
            for row in csv.DictReader(file)
        )


def published_table(paper: str, table: str) -> dict[str, dict[str, PublishedValue]]:
    """Row → column → value of one table."""
    rows: dict[str, dict[str, PublishedValue]] = {}
    for value in published(paper):
        if value.table == table:
            rows.setdefault(value.row, {})[value.column] = value
    return rows
