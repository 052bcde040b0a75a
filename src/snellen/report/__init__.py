"""What people read: pages of a run as HTML, Markdown and JSON. Nothing here needs the data, the models or torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from snellen.atomic import write_atomic
from snellen.audits.finding import Finding
from snellen.checks.doubt import Doubt
from snellen.engine.keep.run_folder import RunFolder
from snellen.errors import unknown
from snellen.lazy_names import lister
from snellen.report import figures
from snellen.report.blocks import Page
from snellen.report.cards import badge_of, card_of, evaluation_results
from snellen.report.findings import findings_frame, write_findings, write_gate
from snellen.report.gate import gate_blocks
from snellen.report.pages.run import brief_page_of, page_of
from snellen.report.render import check_suffix, html_of, json_of, markdown_of, write_page
from snellen.report.tracking import to_mlflow


def write_results(run: RunFolder, findings: Sequence[Finding], doubts: Sequence[Doubt] = ()) -> None:
    """Write findings.json, findings.csv, report.html and report.md into the run folder."""
    write_findings(run, findings, doubts)
    write_reports(run)


def write_reports(run: RunFolder) -> None:
    """Write report.html and report.md into the run folder.

    >>> from snellen.report import write_reports
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> write_reports(run)
    >>> (run.path / "report.html").exists()
    True
    """
    for name in ("report.html", "report.md"):
        write_report(run, run.path / name)


FORMATS: Mapping[str, tuple[str, Callable[[RunFolder], str]]] = {  # beside pages: file name, and what writes its text
    "card": ("card.md", card_of),
    "hf": ("evaluation.yaml", evaluation_results),
    "badge": ("badge.svg", badge_of),
}


def write_as(run: RunFolder, form: str, path: Path | None = None) -> Path:
    """Write the findings as `card`, `hf` or `badge` (FORMATS), by default into the run folder; the path.

    >>> from snellen.report import write_as
    >>> from pathlib import Path
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> str(write_as(run, "card", Path("card.md")))
    'card.md'
    """
    if form not in FORMATS:
        raise unknown("format", form, (*FORMATS, "mlflow"))
    name, text_of = FORMATS[form]
    path = path or run.path / name
    write_atomic(path, text_of(run).encode())
    return path


def write_report(run: RunFolder, path: Path) -> Path:
    """Write the report of a stored run as HTML, Markdown (in brief) or JSON, by the suffix of the name, and give its path.

    >>> from snellen.report import write_report
    >>> from pathlib import Path
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> str(write_report(run, Path("report.md")))
    'report.md'
    """
    check_suffix(path)
    write_page(brief_page_of(run) if path.suffix == ".md" else page_of(run), path)
    return path


def write_figures(run: RunFolder, folder: Path, kind: str = "svg") -> list[Path]:
    """Write the charts of a stored run's report into a folder, as `svg` or `png`, and give their paths.

    >>> from snellen.report import write_figures
    >>> from pathlib import Path
    >>> from snellen import audit
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> {path.suffix for path in write_figures(run, Path("charts"))}
    {'.svg'}
    """
    return figures.write_figures(page_of(run), folder, kind)


__all__ = [
    "FORMATS",
    "Page",
    "brief_page_of",
    "findings_frame",
    "gate_blocks",
    "html_of",
    "json_of",
    "markdown_of",
    "page_of",
    "to_mlflow",
    "write_as",
    "write_figures",
    "write_findings",
    "write_gate",
    "write_report",
    "write_reports",
    "write_results",
]
__dir__ = lister(__all__)
