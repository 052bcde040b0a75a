"""The formats of an export, and which of them a path asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from snellen.engine.keep.run_folder import RunFolder
from snellen.errors import UserError, option, unknown
from snellen.export.fiftyone import write_fiftyone
from snellen.export.huggingface import write_dataset
from snellen.export.table import write_csv, write_parquet


@dataclass(frozen=True)
class ExportFormat:
    """What writes a run in a format, and where that goes by default: the name of a file, or of a folder, in the run's own."""

    write: Callable[[RunFolder, Path], None]
    name: str


FORMATS: Mapping[str, ExportFormat] = {
    "csv": ExportFormat(write_csv, "predictions.csv"),
    "parquet": ExportFormat(write_parquet, "predictions.parquet"),
    "fiftyone": ExportFormat(write_fiftyone, "fiftyone"),
    "hf": ExportFormat(write_dataset, "dataset"),
}


def export_run(run: RunFolder, path: Path | None = None, format: str | None = None) -> Path:
    """Write a run in one of FORMATS, by default the one that the ending of the path names, else `csv`; the path.

    >>> from pathlib import Path
    >>> from snellen import audit
    >>> from snellen.export import export_run
    >>> run = audit("observer:texture", "phantom:test?size=32&n=12&texture_bias=1", "calibration", out="runs/first", quiet=True)
    >>> export_run(run, Path("answers.csv")).name
    'answers.csv'
    """
    if format is not None and format not in FORMATS:
        raise unknown("format", format, FORMATS)
    ending = path.suffix.removeprefix(".") if path is not None else ""
    named = ending if ending in FORMATS and path is not None and path.suffix else None
    if format is None:
        if path is not None and named is None:
            raise UserError(
                f"'{path}' does not say in which format to write it; end it in .csv or .parquet, or add {option('format')} "
                f"{' or '.join(FORMATS)}"
            )
        format = named or "csv"
    elif named is not None and named != format:
        raise UserError(f"'{path}' ends in .{named}, but the format is {format}; change one of them")
    path = path or run.path / FORMATS[format].name
    FORMATS[format].write(run, path)
    return path
