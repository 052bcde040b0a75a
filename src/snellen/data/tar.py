"""`tar:file.tar`: images in a tar file, as timm reads them; each is read by itself, nothing is unpacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows
from snellen.data.decode import decode_bytes
from snellen.data.folder import EXTENSIONS
from snellen.data.names import different
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.places import is_folder
from snellen.files.plain import NotRead
from snellen.files.tar_file import Member, list_tar, read_members
from snellen.files.tree import size_and_time
from snellen.hashing import key_of


def load_tar(path: str, options: Mapping[str, str]) -> Dataset:
    """The images in the tar file `path`; ids are their names in it, the class of each is the folder that it lies in."""
    file = expand_home(path)
    if is_folder(file):
        raise UserError(f"'{path}' is a folder; give a tar file, or folder:{path}")
    images = sorted(
        ((_name(member), member) for member in list_tar(file) if _is_image(member)), key=lambda entry: entry[0]
    )
    if not images:
        raise UserError(f"tar file '{path}' holds no images ({', '.join(sorted(EXTENSIONS))})")
    for name, _ in images:
        if not name.parent.name:
            raise UserError(
                f"tar file '{path}': '{name}' lies in no folder; put the images of each class into a folder named after it"
            )
    names = sorted({name.parent.name for name, _ in images})
    number = {name: label for label, name in enumerate(names)}
    labels = [number[name.parent.name] for name, _ in images]
    members = [member for _, member in images]
    ids = different([str(name) for name, _ in images], f"tar file '{path}'")
    samples = Samples(
        ids, np.array(labels, np.int64), {"bytes": np.array([member.size for member in members], np.int64)}
    )

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        contents = read_members(file, [members[p] for p in positions])
        return [
            Unreadable(f"cannot be read: {content.reason}") if isinstance(content, NotRead) else decode_bytes(content)
            for content in contents
        ]

    fingerprint = key_of(["tar", ids, labels, [member.size for member in members], size_and_time(file)])
    classes = different(names, f"tar file '{path}'", "class")
    return filter_rows(Dataset(f"tar:{path}", classes, samples, fingerprint, read), options)


def _name(member: Member) -> PurePosixPath:
    """Without the dot in front that `tar -C DIR .` writes."""
    return PurePosixPath(member.name)


def _is_image(member: Member) -> bool:
    """By its ending; what is hidden, as what macOS writes beside images, is left out."""
    name = _name(member)
    return name.suffix.lower() in EXTENSIONS and not any(part.startswith(".") for part in name.parts if part != "..")
