"""The file itself: a pipe, a socket, a folder or a link in its place, or another name for it."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from random import Random

from . import nasty
from .unfit import Unfit


def pipe(file: Path, draw: Random) -> None:
    os.mkfifo(file)


def listening(file: Path, draw: Random) -> None:
    with socket.socket(socket.AF_UNIX) as one, _inside(file.parent):
        one.bind(file.name)  # whole paths may be longer than a socket's name


class _inside:
    """The working folder, for as long as it lasts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        self.before = Path.cwd()
        os.chdir(self.folder)

    def __exit__(self, *_: object) -> None:
        os.chdir(self.before)


def folder(file: Path, draw: Random) -> None:
    file.mkdir()
    if draw.random() < 0.5:
        (file / "a.png").write_bytes(b"")


def link_to(target: str) -> Callable[[Path, Random], None]:
    def link(file: Path, draw: Random) -> None:
        file.symlink_to(target)

    link.__name__ = f"link to {target}"
    return link


def loop(file: Path, draw: Random) -> None:
    file.symlink_to(file.name)


def nothing(file: Path, draw: Random) -> None:
    pass


SORTS = (
    *(pipe, listening, folder, loop, nothing, nothing, link_to("nowhere"), link_to("/dev/zero"), link_to("/dev/null")),
    *(link_to("/etc/passwd"), link_to("/proc/version"), link_to("/dev/tty"), link_to("..")),
)


def mutate_sort(file: Path, draw: Random) -> str:
    sort = draw.choice(SORTS)
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink()
    try:
        sort(file, draw)
    except OSError as error:  # a name that no socket may have
        raise Unfit from error
    return f"places: {sort.__name__}"


def mutate_name(file: Path, draw: Random) -> str:
    """Another name for the file, or a file of that name beside it."""
    name = draw.choice(nasty.NAMES)
    if name == b"..":
        name = b"..x"
    other = os.path.join(os.fsencode(file.parent), name + os.fsencode(file.suffix))
    try:
        if draw.random() < 0.5:
            os.rename(file, other)
            return f"places: renamed to {name!r}"
        shutil.copyfile(file, other)
    except OSError as error:
        raise Unfit from error
    return f"places: {name!r} beside it"


def mutate_folder(file: Path, draw: Random) -> str:
    """The folder that the file is in under another name, or inside out."""
    name = draw.choice([one for one in nasty.NAMES if one != b".."])
    other = os.path.join(os.fsencode(file.parent.parent), name)
    try:
        if draw.random() < 0.6:
            os.rename(file.parent, other)
            return f"places: its folder renamed to {name!r}"
        os.symlink(os.fsencode(file.parent), other)
    except OSError as error:
        raise Unfit from error
    return f"places: link {name!r} to its folder"
