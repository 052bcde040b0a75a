"""`folder:path`: one sub-folder per class, as torchvision's ImageFolder reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows
from snellen.data.decode import decode_file
from snellen.errors import UserError
from snellen.hashing import key_of

EXTENSIONS = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".ppm", ".pgm"}


def folder(path: str, options: Mapping[str, str]) -> Dataset:
    """The images below `path`; ids are their paths in it, classes its sub-folders in sorted order."""
    root = Path(path).expanduser()
    if not root.exists():
        raise UserError(f"no folder '{path}'; give a folder with one sub-folder per class")
    if not root.is_dir():
        raise UserError(f"'{path}' is a file; give a folder with one sub-folder per class")
    try:
        classes = sorted(p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))
    except OSError as error:
        raise _unreadable(error) from None
    if not classes:
        raise UserError(
            f"folder '{path}' has no sub-folders; put the images of each class into a sub-folder named after it"
        )
    ids: list[str] = []
    labels: list[int] = []
    stats: list[tuple[int, int]] = []
    for label, name in enumerate(classes):
        files = sorted(_images(root / name))
        if not files:
            raise UserError(
                f"class folder '{root / name}' holds no images ({', '.join(sorted(EXTENSIONS))}); fill or remove it"
            )
        for file in files:
            stat = file.stat()
            ids.append(file.relative_to(root).as_posix())
            labels.append(label)
            stats.append((stat.st_size, stat.st_mtime_ns))
    samples = Samples(tuple(ids), np.array(labels, np.int64), {"bytes": np.array([s for s, _ in stats], np.int64)})

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        return [decode_file(root / ids[p]) for p in positions]

    fingerprint = key_of(["folder", ids, labels, stats])
    return filter_rows(Dataset(f"folder:{path}", tuple(classes), samples, fingerprint, read), options)


def _refuse(error: OSError) -> None:
    raise _unreadable(error)


def _unreadable(error: OSError) -> UserError:
    reason = (error.strerror or type(error).__name__).lower()
    return UserError(f"folder '{error.filename}' cannot be read: {reason}; change its permissions or leave it out")


def _images(top: Path) -> list[Path]:
    images: list[Path] = []
    for folder, folders, files in os.walk(top, onerror=_refuse):
        folders[:] = [f for f in folders if not f.startswith(".")]
        images += [Path(folder) / f for f in files if Path(f).suffix.lower() in EXTENSIONS and not f.startswith(".")]
    return images
