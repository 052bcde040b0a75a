"""A folder that an export writes: empty before, or one that an export wrote."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from snellen.atomic import cannot_write, check_place, encode_json, make_folder, write_atomic
from snellen.engine.keep.run_folder import RunFolder
from snellen.errors import UserError, option

MARK = "export.json"


def empty_folder(folder: Path, run: RunFolder, format: str) -> None:
    """Make the folder, without what an earlier export wrote there; one with files of others is refused."""
    check_place(folder)
    make_folder(folder)
    try:
        if os.listdir(folder):
            if not (folder / MARK).is_file():
                raise UserError(f"'{folder}' has files in it; choose another {option('out')}, or empty it first")
            for each in folder.iterdir():
                if each.name != MARK:
                    shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
    except OSError as error:
        raise cannot_write(folder, error) from None
    write_atomic(folder / MARK, encode_json({"snellen": run.facts["snellen"], "format": format, "run": run.path.name}))
