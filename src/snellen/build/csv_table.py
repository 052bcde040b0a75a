"""Rows as CSV files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Rows as CSV in UTF-8, with the same bytes everywhere."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
