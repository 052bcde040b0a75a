"""The list that people keep of a set: id, decision (accept or reject) and reason."""

from __future__ import annotations

import os
from pathlib import Path

from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files.table import Column, line_of, read_table

DECISIONS = ("accept", "reject")
COLUMNS = ("id", "decision", "reason")


def read_curation(file: str | Path | None) -> dict[str, str]:
    """Id → reason of the images that a list rejects; nothing without a list."""
    if file is None:
        return {}
    path = Path(os.path.expanduser(file))
    if not os.path.exists(path):
        raise UserError(f"no file '{file}'; --curation takes a CSV file with columns id, decision and reason")
    rejects: dict[str, str] = {}
    table = read_table(path, dict.fromkeys(COLUMNS, Column(required=True)))
    for row, (name, decision, reason) in enumerate(table[list(COLUMNS)].itertuples(index=False)):
        if decision.strip() not in DECISIONS:
            raise UserError(f"{file} line {line_of(row)}: expected accept or reject, got '{decision.strip()[:60]}'")
        if decision.strip() == "reject":
            rejects[storable(name.strip())] = storable(reason.strip())
    return rejects
