"""Images in one archive: what tar and zip files share. The class of an image is the folder that it lies in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeVar

import numpy as np

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows
from snellen.data.decode import decode_content
from snellen.data.folder import EXTENSIONS, SPLITS
from snellen.data.names import different
from snellen.errors import UserError
from snellen.files.plain import NotRead
from snellen.files.tree import size_and_time
from snellen.hashing import key_of

PACKED = {".zip", ".tar", ".tgz", ".gz", ".7z", ".rar", ".bz2", ".xz", ".zst"}


class ArchiveMember(Protocol):
    """A file in an archive: its name there and its size in bytes."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int: ...


M = TypeVar("M", bound=ArchiveMember)


def archive_dataset(
    kind: str,
    path: str,
    file: Path,
    members: Sequence[M],
    read_members: Callable[[Path, Sequence[M]], Iterable[bytes | NotRead]],
    options: Mapping[str, str],
) -> Dataset:
    """The images among the members of a `tar` or `zip` file, below `?folder=` where it is given; ids are their names in it."""
    where, conditions = f"{kind} file '{path}'", dict(options)
    listed = size_and_time(file)
    images = _images(members, where, conditions.pop("folder", None))
    names = [name_in(member) for member in images]
    _check_folders(names, where, f"{kind}:{path}")
    folders = sorted({name.parent.name for name in names})
    number = {name: label for label, name in enumerate(folders)}
    labels = [number[name.parent.name] for name in names]
    sizes = [member.size for member in images]
    ids = different([str(name) for name in names], where)
    samples = Samples(ids, np.array(labels, np.int64), {"bytes": np.array(sizes, np.int64)})

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        if size_and_time(file) != listed:
            return [Unreadable(f"the {kind} file has changed since it was listed")] * len(positions)
        return [decode_content(content) for content in read_members(file, [images[p] for p in positions])]

    fingerprint = key_of([kind, ids, labels, sizes, listed])
    return filter_rows(
        Dataset(f"{kind}:{path}", different(folders, where, "class"), samples, fingerprint, read), conditions
    )


def name_in(member: ArchiveMember) -> PurePosixPath:
    """Without the dot in front that `tar -C DIR .` writes."""
    return PurePosixPath(member.name)


def is_hidden(name: PurePosixPath) -> bool:
    """Whether a name is of what macOS writes beside images, or hidden otherwise."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.parts)


def _images(members: Sequence[M], where: str, folder: str | None) -> list[M]:
    """The images below a folder, by their endings, in the order of their names."""
    below = PurePosixPath(folder).parts if folder is not None else ()
    images = [
        member
        for member in members
        if (name := name_in(member)).suffix.lower() in EXTENSIONS
        and not is_hidden(name)
        and name.parts[: len(below)] == below
    ]
    if images:
        return sorted(images, key=name_in)
    inner = next((member.name for member in members if name_in(member).suffix.lower() in PACKED), None)
    if folder is not None:
        raise UserError(f"{where} holds no images below the folder '{folder}'")
    if inner is not None:
        raise UserError(
            f"{where} holds the archive '{inner[:200]}' and no images; take that out of it, and give it instead"
        )
    raise UserError(f"{where} holds no images ({', '.join(sorted(EXTENSIONS))})")


def _check_folders(names: Sequence[PurePosixPath], where: str, text: str) -> None:
    """Refuse images in no folder, and folders of splits, which are no classes."""
    for name in names:
        if not name.parent.name:
            raise UserError(
                f"{where}: '{name}' lies in no folder; put the images of each class into a folder named after it"
            )
    depth = 0
    while len({name.parts[depth] for name in names if len(name.parts) > depth + 1}) == 1:
        depth += 1
    tops = sorted({name.parts[depth] for name in names if len(name.parts) > depth + 1})
    deeper = all(len(name.parts) > depth + 2 for name in names)
    if len(tops) > 1 and deeper and SPLITS.issuperset(top.lower() for top in tops):
        last = min(tops, key=lambda name: not name.lower().startswith("test"))
        place = "/".join([*names[0].parts[:depth], last])
        raise UserError(
            f"{where} holds the splits {', '.join(tops)}, which are no classes; name one: '{text}?folder={place}'"
        )
