"""The run folder before a run: refused, or emptied for a fresh one."""

from __future__ import annotations

from pathlib import Path

from snellen.atomic import cannot_write, check_place, remove
from snellen.engine.keep.store import FOLDERS
from snellen.errors import UserError, option
from snellen.lock import LOCK

RECORD = "run.json"
FILES = ("cells.parquet", "findings.json", "findings.csv", "report.html", "report.md")
BESIDE = ("settings.yaml", "inside.html", "inside.json")  # what a command adds to its run folder, in the end


def check_folder(folder: Path, fresh: bool = False) -> None:
    """Refuse a folder that holds something else, before anything is written to it or removed from it."""
    check_place(folder)
    try:
        if not folder.exists() or (folder / RECORD).exists():
            return
        names = {path.name for path in folder.iterdir() if not _is_half(path)}
    except OSError as error:
        raise cannot_write(folder, error) from None
    if names - {LOCK} and (LOCK not in names or names - {LOCK, *FOLDERS, *FILES, *BESIDE}):
        raise UserError(
            f"'{folder}' is not empty and not a run folder (it has no run.json); choose another {option('out')}"
        )
    if names.intersection(FOLDERS) and not fresh:  # without its settings the answers cannot be read
        raise UserError(
            f"'{folder}' has lost its run.json; pass {option('fresh')} to ask everything again, or choose another {option('out')}"
        )


def _is_half(path: Path) -> bool:
    """Whether a file is what a kill left of one that was being written."""
    return path.suffix == ".part" and path.name.startswith(tuple(f"{name}." for name in (RECORD, *FILES, *BESIDE)))


def empty(folder: Path) -> None:
    """Remove what an earlier run left, for a fresh one.

    Its run.json stays until the new one takes its place: a folder without one could not be told from any other.
    """
    for name in (*FILES, *FOLDERS):
        remove(folder / name)
    if not (folder / RECORD).is_file():  # no file can take the place of a folder
        remove(folder / RECORD)
