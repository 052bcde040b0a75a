"""What people read: HTML, Markdown, JSON and CSV of a run. Nothing here needs the data, the models or torch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.atomic import write_atomic
from snellen.audits.finding import Finding
from snellen.checks.doubt import Doubt
from snellen.engine.keep.run_folder import RunFolder
from snellen.errors import UserError
from snellen.report.findings import write_findings
from snellen.report.html import html_of
from snellen.report.markdown import markdown_of
from snellen.report.page import page_of


def write_results(run: RunFolder, findings: Sequence[Finding], doubts: Sequence[Doubt] = ()) -> None:
    """Write findings.json, findings.csv, report.html and report.md into the run folder."""
    write_findings(run, findings, doubts)
    page = page_of(run)
    for name in ("report.html", "report.md"):
        _write(page, run.path / name)


def write_report(run: RunFolder, path: Path) -> Path:
    """Write the report of a stored run as HTML, Markdown or JSON, by the suffix of the name, and give its path."""
    if path.suffix not in _RENDERINGS:
        raise UserError(f"expected a report name ending in {', '.join(_RENDERINGS)}, got '{path}'")
    _write(page_of(run), path)
    return path


def _as_json(page: Mapping[str, Any]) -> str:
    return json.dumps(page, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


_RENDERINGS = {".html": html_of, ".md": markdown_of, ".json": _as_json}


def _write(page: Mapping[str, Any], path: Path) -> None:
    write_atomic(path, _RENDERINGS[path.suffix](page).encode())


__all__ = ["html_of", "markdown_of", "page_of", "write_report", "write_results"]
