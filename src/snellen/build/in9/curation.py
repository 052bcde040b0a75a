"""The list that people keep of a set: id, decision (accept or reject) and reason."""

from __future__ import annotations

import csv
from pathlib import Path

from snellen.errors import UserError

DECISIONS = ("accept", "reject")
COLUMNS = ("id", "decision", "reason")


def read_curation(file: str | Path | None) -> dict[str, str]:
    """Id → reason of the images that a list rejects; nothing without a list."""
    if file is None:
        return {}
    path = Path(file).expanduser()
    if not path.is_file():
        raise UserError(f"no file '{file}'; --curation takes a CSV file with columns id, decision and reason")
    rejects: dict[str, str] = {}
    with path.open(newline="", encoding="utf-8") as stream:
        rows = csv.DictReader(stream, skipinitialspace=True)
        missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            raise UserError(f"{file} has no column '{missing[0]}'; expected {', '.join(COLUMNS)}")
        for row in rows:
            decision = (row["decision"] or "").strip()
            if decision not in DECISIONS:
                raise UserError(f"{file} line {rows.line_num}: expected accept or reject, got '{decision}'")
            if decision == "reject":
                rejects[(row["id"] or "").strip()] = (row["reason"] or "").strip()
    return rejects
