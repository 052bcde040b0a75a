"""`folder:path`: one sub-folder per class, as torchvision's ImageFolder reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows
from snellen.data.decode import decode_file
from snellen.data.names import different
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.places import exists, is_folder, list_below
from snellen.files.tree import files_below, folders_in, size_and_time
from snellen.hashing import key_of

SPLITS = frozenset({"train", "training", "val", "valid", "validation", "dev", "test", "testing"})
EXTENSIONS = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".ppm", ".pgm"}


def load_folder(path: str | Path, options: Mapping[str, str]) -> Dataset:
    """The images below `path`; ids are their paths in it, classes its sub-folders in sorted order."""
    root = expand_home(path)
    list_below(root)
    if not exists(root):
        raise UserError(f"no folder '{path}'; give a folder with one sub-folder per class")
    if not is_folder(root):
        raise UserError(
            f"'{path}' is a file; give a folder with one sub-folder per class, or the path without 'folder:'"
        )
    names = folders_in(root)
    _check_splits(root, names, path)
    if not names:
        raise UserError(
            f"folder '{path}' has no sub-folders; put the images of each class into a sub-folder named after it"
        )
    files: list[Path] = []
    labels: list[int] = []
    for label, name in enumerate(names):
        images = files_below(root / name, EXTENSIONS)
        if not images:
            raise UserError(
                f"class folder '{root / name}' holds no images ({', '.join(sorted(EXTENSIONS))}); fill or remove it"
            )
        files += images
        labels += [label] * len(images)
    ids = different([file.relative_to(root).as_posix() for file in files], f"folder '{path}'")
    stats = [size_and_time(file) for file in files]
    samples = Samples(ids, np.array(labels, np.int64), {"bytes": np.array([s for s, _ in stats], np.int64)})

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [decode_file(files[p]) for p in positions]

    fingerprint = key_of(["folder", ids, labels, stats])
    classes = different(names, f"folder '{path}'", "class")
    return filter_rows(Dataset(f"folder:{path}", classes, samples, fingerprint, read), options)


def _check_splits(root: Path, names: Sequence[str], path: str | Path) -> None:
    """Refuse folders of splits, which are no classes: each holds the folders of classes."""
    if (
        len(names) > 1
        and SPLITS.issuperset(name.lower() for name in names)
        and all(folders_in(root / n) for n in names)
    ):
        last = min(names, key=lambda name: not name.lower().startswith("test"))
        raise UserError(
            f"'{path}' holds the splits {', '.join(names)}, which are no classes; name one: 'folder:{path}/{last}'"
        )
