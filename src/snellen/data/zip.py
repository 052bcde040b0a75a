"""`zip:file.zip`: images in a zip file, one folder per class; each is read by itself, nothing is unpacked.

`?folder=` names a folder in it, below which the images are.
"""

from __future__ import annotations

from collections.abc import Mapping

from snellen.data.archive import archive_dataset
from snellen.data.dataset import Dataset
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.places import is_folder
from snellen.files.zip_file import list_zip, read_zip_members


def load_zip(path: str, options: Mapping[str, str]) -> Dataset:
    """The images in the zip file `path`; ids are their names in it, the class of each is the folder that it lies in."""
    file = expand_home(path)
    if is_folder(file):
        raise UserError(f"'{path}' is a folder; give a zip file, or folder:{path}")
    return archive_dataset("zip", path, file, list_zip(file), read_zip_members, options)
