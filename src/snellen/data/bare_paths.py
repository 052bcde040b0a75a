"""Paths without a scheme in front: which kind of data a file or folder is, by its name and a look at it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from snellen.data.folder import EXTENSIONS
from snellen.data.in9.layout import FACTS
from snellen.errors import UserError
from snellen.files import MIB, expand_home, open_file
from snellen.files.places import exists, is_folder, list_below
from snellen.files.remote.remote_path import RemotePath
from snellen.files.table import column_names
from snellen.files.tree import folders_in

BY_ENDING = {
    ".csv": "manifest", ".parquet": "manifest", ".npz": "arrays", ".tar": "tar", ".mat": "svhn", ".bin": "stl", ".json": "coco",
}  # fmt: skip
ANSWERS = {"sample", "pred"}  # columns of recorded answers


def scheme_of(path: str, schemes: Sequence[str]) -> str:
    """The scheme of the data at a path; where none fits, one line says what to write."""
    place = expand_home(path)
    if is_folder(place):
        return _folder(place)
    ending = place.suffix.lower()
    if not exists(place):
        guess = BY_ENDING.get(ending, "folder")
        raise UserError(
            f"no file or folder '{path}'; expected data as 'scheme:path' ({', '.join(schemes)}), for example '{guess}:{path}'"
        )
    if ending in EXTENSIONS:
        raise UserError(f"'{path}' is one image; give a folder with one sub-folder of images per class")
    if ending not in BY_ENDING:
        raise UserError(
            f"cannot tell what '{path}' is; write it as 'scheme:{path}', where scheme is one of {', '.join(schemes)}"
        )
    if BY_ENDING[ending] == "manifest":
        return _table(place)
    if ending == ".json" and _holds(place, b'"videos"'):
        return "ovis"
    return BY_ENDING[ending]


def _folder(place: Path) -> str:
    """The scheme of a folder by what lies in it."""
    list_below(place)
    if is_folder(place / "JPEGImages") and is_folder(place / "Annotations"):
        return "voc"
    if isinstance(place, RemotePath):
        return "folder"
    if os.path.exists(place.parent / FACTS) and os.path.isdir(place.parent / "original"):
        return "in9"
    if os.path.isdir(place / "original") and os.path.exists(place / FACTS):
        raise UserError(f"'{place}' holds variants of ImageNet-9; name one: 'in9:{place}/original'")
    if not folders_in(place) and any(file.suffix == ".bin" for file in place.glob("*_X.bin")):
        return "stl"
    return "folder"


def _table(place: Path) -> str:
    """The scheme of a table by its columns."""
    names = column_names(place)
    if names >= ANSWERS and "path" not in names:
        raise UserError(f"'{place}' holds answers and no images; it is a model: 'predictions:{place}'")
    return "manifest"


def _holds(place: Path, word: bytes) -> bool:
    """Whether a word occurs in a file."""
    with open_file(place, "annotations") as file:
        before = b""
        while part := file.read(MIB):
            if word in before + part:
                return True
            before = part[-len(word) :]
    return False
