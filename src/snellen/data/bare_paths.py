"""Paths without a scheme in front: which kind of data a file or folder is, by its name and a look at it."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from snellen.data.cifar import FOLDERS
from snellen.data.features import features_of
from snellen.data.folder import EXTENSIONS
from snellen.data.in9.layout import FACTS, VARIANTS
from snellen.errors import UserError
from snellen.files import MIB, expand_home, open_file
from snellen.files.parquet import read_parquet_schema
from snellen.files.places import exists, is_folder, list_below
from snellen.files.remote.remote_path import RemotePath
from snellen.files.table import column_names
from snellen.files.tar_file import first_names
from snellen.files.tree import files_in, folders_in

BY_ENDING = {
    ".csv": "manifest", ".parquet": "manifest", ".npz": "arrays", ".tar": "tar", ".zip": "zip",
    ".mat": "svhn", ".bin": "stl", ".json": "coco",
}  # fmt: skip
SAVED_BY_DATASETS = ("state.json", "dataset_dict.json", "dataset_info.json")  # Hugging Face's library
BATCHES = ("data_batch_1.bin", "test_batch.bin", "fine_label_names.txt", "data_batch_1")  # of CIFAR, the last a pickle
KNOWN = {".cls", ".json", ".txt"}  # of a sample of WebDataset
LOOKED_AT = 100  # files in a tar file
ANSWERS = {"sample", "pred"}  # columns of recorded answers


def scheme_of(path: str, schemes: Sequence[str]) -> str:
    """The scheme of the data at a path; where none fits, one line says what to write."""
    place = expand_home(path)
    if is_folder(place):
        return _folder(place)
    ending = place.suffix.lower()
    if ending == ".tar" and not exists(place) and set("{*") & set(path):
        return "wds"
    if ending == ".parquet" and not exists(place) and set("{*") & set(path):
        return "parquet"
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
    if ending == ".tar" and _holds_samples(place):
        return "wds"
    if ending == ".json" and _holds(place, b'"segments_info"'):
        return "panoptic"
    if ending == ".json" and _holds(place, b'"videos"'):
        return "ovis"
    return BY_ENDING[ending]


def _folder(place: Path) -> str:
    """The scheme of a folder by what lies in it."""
    list_below(place)
    if is_folder(place / "JPEGImages") and is_folder(place / "Annotations"):
        return "voc"
    here = not isinstance(place, RemotePath)
    if (here or place.name in VARIANTS) and exists(place.parent / FACTS) and is_folder(place.parent / "original"):
        return "in9"
    if any(exists(place / name) for name in SAVED_BY_DATASETS):
        return "hf"
    if is_folder(place / "original") and exists(place / FACTS):
        raise UserError(f"'{place}' holds variants of ImageNet-9; name one: 'in9:{place}/original'")
    if any(exists(folder / name) for folder in (place, *(place / f for f in FOLDERS)) for name in BATCHES):
        return "cifar"
    names = files_in(place)
    if any(fnmatchcase(name, "*-images*idx3-ubyte*") for name in names):
        return "mnist"
    if not folders_in(place) and any(name.endswith("_X.bin") for name in names):
        return "stl"
    return "folder"


def _table(place: Path) -> str:
    """The scheme of a table by its columns."""
    names = column_names(place)
    if names >= {"ImageID", "LabelName", "XMin"}:
        return "openimages"
    if place.suffix.lower() == ".parquet" and "path" not in names and _holds_images(place):
        return "parquet"
    if names >= ANSWERS and "path" not in names:
        raise UserError(f"'{place}' holds answers and no images; it is a model: 'predictions:{place}'")
    return "manifest"


def _holds_images(place: Path) -> bool:
    """Whether a Parquet file has a column of bytes, or of bytes and paths."""
    return bool(features_of(read_parquet_schema(place), str(place)).images)


def _holds_samples(place: Path) -> bool:
    """Whether a tar file begins with a sample of WebDataset: an image and what is known of it under one name."""
    fields: dict[str, set[str]] = {}
    for name in first_names(place, LOOKED_AT):
        key, dot, ending = name.rpartition("/")[2].partition(".")
        fields.setdefault(name.rpartition("/")[0] + "/" + key, set()).add(dot + ending.lower())
    return any(own & KNOWN and own & EXTENSIONS for own in fields.values())


def _holds(place: Path, word: bytes) -> bool:
    """Whether a word occurs in a file."""
    with open_file(place, "annotations") as file:
        before = b""
        while part := file.read(MIB):
            if word in before + part:
                return True
            before = part[-len(word) :]
    return False
