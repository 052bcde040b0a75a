"""Masks made elsewhere, in place of GrabCut's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from snellen.data.dataset import Dataset, Photo, Unreadable
from snellen.data.in9.layout import file_name
from snellen.data.pixel_files import read_mask
from snellen.errors import UserError, option
from snellen.files import expand_home
from snellen.files.places import is_file, is_folder, list_below
from snellen.files.tree import size_and_time
from snellen.hashing import key_of

ENDINGS = (".png", ".npy", ".bmp", ".tif", ".webp")


def with_masks(data: Dataset, masks: str) -> Dataset:
    """The data with the masks that `masks` names: `data` (its own), `python:…` (made later), or a folder of files.

    A file is named as the sample's id, or as its files in the set, with another ending; its bright pixels (over 127; of a
    .npy file those that are not 0) are the object.
    """
    if masks.startswith("python:"):
        return data
    if masks == "data":
        if "masks" not in data.facts:
            raise UserError(f"{data.text} has no masks; leave out {option('masks')}, or give a folder of them")
        return data
    root = expand_home(masks)
    list_below(root)
    if not is_folder(root):
        raise UserError(
            f"no folder '{masks}'; {option('masks')} takes data, a folder of masks or python:file.py:factory"
        )
    files = [_file(root, sample) for sample in data.samples.ids]
    if not any(files):
        example = f"{_stem(data.samples.ids[0])}.png"
        raise UserError(f"no mask of any image in '{masks}'; looked for '{example}' and its like")

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [_add_mask(photo, files[p]) for p, photo in zip(positions, data.read(positions))]

    stats = [size_and_time(file) if file else (0, 0) for file in files]
    return replace(
        data,
        read=read,
        read_together=None,
        facts=data.facts | {"masks"},
        fingerprint=key_of([data.fingerprint, "masks", stats]),
    )


def _file(root: Path, sample: str) -> Path | None:
    for name in (_stem(sample), file_name(sample), Path(sample).stem):
        for ending in ENDINGS:
            if ".." not in name and is_file(root / f"{name}{ending}"):
                return root / f"{name}{ending}"
    return None


def _stem(sample: str) -> str:
    """The id without its ending; ids such as `.` and `/` have none."""
    path = Path(sample)
    return (path.with_suffix("") if path.name else path).as_posix().lstrip("/")


def _add_mask(photo: Photo | Unreadable, file: Path | None) -> Photo | Unreadable:
    if isinstance(photo, Unreadable):
        return photo
    if file is None:
        return Unreadable("there is no mask of it", "no mask")
    mask = read_mask(file, photo.size, "no mask")
    return mask if isinstance(mask, Unreadable) else replace(photo, maps={**photo.maps, "mask": mask})
