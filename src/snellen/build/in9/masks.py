"""Masks made elsewhere, in place of GrabCut's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from snellen.data.dataset import Dataset, Photo, Unreadable
from snellen.data.in9.layout import file_name
from snellen.errors import UserError
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
            raise UserError(f"{data.text} has no masks; leave out --masks, or give a folder of them")
        return data
    root = Path(masks).expanduser()
    if not root.is_dir():
        raise UserError(f"no folder '{masks}'; --masks takes data, a folder of masks or python:file.py:factory")
    files = [_file(root, sample) for sample in data.samples.ids]
    if not any(files):
        example = f"{Path(data.samples.ids[0]).with_suffix('').as_posix()}.png"
        raise UserError(f"no mask of any image in '{masks}'; looked for '{example}' and its like")

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [_add_mask(photo, files[p]) for p, photo in zip(positions, data.read(positions))]

    stats = [(file.stat().st_size, file.stat().st_mtime_ns) if file else (0, 0) for file in files]
    return replace(
        data,
        read=read,
        read_together=None,
        facts=data.facts | {"masks"},
        fingerprint=key_of([data.fingerprint, "masks", stats]),
    )


def _file(root: Path, sample: str) -> Path | None:
    stem = Path(sample).with_suffix("").as_posix().lstrip("/")
    for name in (stem, file_name(sample), Path(sample).stem):
        for ending in ENDINGS:
            if ".." not in name and (root / f"{name}{ending}").is_file():
                return root / f"{name}{ending}"
    return None


def _add_mask(photo: Photo | Unreadable, file: Path | None) -> Photo | Unreadable:
    if isinstance(photo, Unreadable):
        return photo
    if file is None:
        return Unreadable("there is no mask of it", "no mask")
    try:
        if file.suffix == ".npy":
            mask = np.load(file, allow_pickle=False) > 0
        else:
            with Image.open(file) as image:
                mask = np.asarray(image.convert("L")) > 127
    except Exception as error:  # decoders raise many kinds on damaged files
        return Unreadable(f"its mask {file.name} cannot be read: {error}", "no mask")
    if mask.shape != photo.image.shape[:2]:
        return Unreadable(f"its mask {file.name} is {mask.shape}, the image {photo.image.shape[:2]}", "no mask")
    return replace(photo, maps={**photo.maps, "mask": mask})
