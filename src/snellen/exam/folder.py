"""The run folder around a run: refused, made, emptied, or removed again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snellen.atomic import cannot_write, check_place
from snellen.errors import UserError

FOLDERS = ("answers", "shown", "samples", "maps", "trials", "things", "thumbs")
FILES = ("run.json", "cells.parquet", "findings.json", "findings.csv", "report.html", "report.md")


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else, before anything is written to it or removed from it."""
    check_place(folder)
    if folder.exists() and not (folder / "run.json").exists() and any(not _leftover(p) for p in folder.iterdir()):
        raise UserError(f"'{folder}' is not empty and not a run folder (it has no run.json); choose another --out")


@contextmanager
def run_folder(folder: Path) -> Iterator[None]:
    """The run folder is there; one that was made for a run that is then refused is gone again."""
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.lock").touch()
    except OSError as error:
        raise cannot_write(folder, error) from None
    try:
        yield
    except UserError:
        if new:
            _remove_if_bare(folder)
        raise


def empty(folder: Path) -> None:
    """Remove what an earlier run left, for --fresh."""
    for name in FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in FILES:
        try:
            (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(folder / name, error) from None


def _remove_if_bare(folder: Path) -> None:
    """Leave no trace of a run that was refused before anything was stored, nor of the folders made for it."""
    if folder.is_dir() and [path.name for path in folder.iterdir()] == ["run.lock"]:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.parent.name == "runs" and not any(folder.parent.iterdir()):
            folder.parent.rmdir()


def _leftover(path: Path) -> bool:
    """What a run that was killed, or ran out of space, before its run.json may have left."""
    return path.name == "run.lock" or (path.name.startswith("run.json.") and path.suffix == ".part")
