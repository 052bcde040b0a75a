"""Several files by one text: `shards-{000..099}.tar`, `{train,val}.parquet`, `part-*.parquet`."""

from __future__ import annotations

import glob
import re
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

from snellen.errors import UserError
from snellen.files.places import exists
from snellen.files.plain import expand_home
from snellen.files.remote.remote_path import RemotePath
from snellen.files.tree import files_below

MOST_FILES = 100_000
_GROUP = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d{1,12})\.\.(\d{1,12})")


def files_of(text: str, kind: str = "file") -> list[Path]:
    """The files that a text names: braces in the order written, `*` in sorted order. Those of braces need not be there."""
    place = expand_home(text)
    if exists(place) or not set("{*") & set(text):
        return [place]
    files: list[Path] = []
    for name in expand_braces(text):
        if "*" not in name:
            files.append(expand_home(name))
            continue
        matches = matches_of(expand_home(name))
        if not matches:
            raise UserError(f"no {kind} '{name}'; nothing there has such a name")
        files += matches
        _check_count(len(files), text)
    if len(set(files)) < len(files):
        twice = next(file for number, file in enumerate(files) if file in files[:number])
        raise UserError(f"'{text}' names the {kind} '{twice}' twice; name each once")
    return files


def matches_of(pattern: Path) -> list[Path]:
    """The files that a name with `*` fits; at an address only the last part may have one."""
    if isinstance(pattern, RemotePath):
        below = files_below(pattern.parent, {pattern.suffix})
        return [file for file in below if file.parent == pattern.parent and fnmatchcase(file.name, pattern.name)]
    return sorted(map(Path, glob.glob(str(pattern))))


def expand_braces(text: str) -> list[str]:
    """The texts that braces stand for: `{08..11}` keeps its zeros, `{a,b}` are alternatives; several make all combinations."""
    parts = _GROUP.split(text)
    choices = [[part] if number % 2 == 0 else _choices(part, text) for number, part in enumerate(parts)]
    count = 1
    for some in choices:
        count *= len(some)
        _check_count(count, text)
    return ["".join(parts) for parts in product(*choices)]


def _choices(group: str, text: str) -> list[str]:
    if match := _RANGE.fullmatch(group):
        first, last = int(match[1]), int(match[2])
        _check_count(abs(last - first) + 1, text)
        padded = any(len(end) > 1 and end.startswith("0") for end in match.groups())
        width = max(map(len, match.groups())) if padded else 1
        return [f"{number:0{width}}" for number in range(first, last + 1)] or [
            f"{number:0{width}}" for number in range(first, last - 1, -1)
        ]
    if "," not in group:
        raise UserError(f"'{{{group}}}' in '{text}' names no files; write a range as {{000..099}}, or {{train,val}}")
    return group.split(",")


def _check_count(count: int, text: str) -> None:
    if count > MOST_FILES:
        raise UserError(f"'{text}' names more than {MOST_FILES:,} files; name fewer at a time")
