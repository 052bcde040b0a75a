"""Model texts, `NAME=kind:place@argument`: read, written, and expanded to one text per run."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass, replace
from pathlib import Path

from snellen.errors import UserError, unknown
from snellen.files import expand_home
from snellen.models.kinds import KINDS


@dataclass(frozen=True)
class ModelText:
    """The parts of a model text; printing it gives the text again."""

    kind: str
    place: str
    argument: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.place}" + ("" if self.argument is None else f"@{self.argument}")


def parse_text(text: str) -> ModelText:
    """The parts of a model text, which may be written as its kind allows: `timm/NAME`, or a checkpoint's path alone."""
    for name, kind in KINDS.items():
        if kind.prefix and text.startswith(kind.prefix):
            return ModelText(name, text.removeprefix(kind.prefix))
        if kind.suffix and text.endswith(kind.suffix) and ":" not in text:
            return ModelText(name, "", text)
    name, colon, rest = text.partition(":")
    if not colon:
        hint = f"; for example 'timm:{text}' or 'zoo:ARCH@{text}'"
        raise UserError(f"expected a model as 'kind:name' ({', '.join(KINDS)}), got '{text}'{hint}")
    if name not in KINDS:
        raise unknown("kind of model", name, KINDS)
    if not KINDS[name].takes_argument:
        return ModelText(name, rest)
    place, at, argument = rest.partition("@")
    return ModelText(name, place, argument if at else None)


def expand_text(text: str) -> tuple[str | None, list[ModelText]]:
    """The name in front of a model text, if any, and the text of each run: a `*` in its path makes one per file."""
    match = re.match(r"([\w.+-]+)=(?=.)", text)
    name = match[1] if match else None
    parts = parse_text(text[match.end() :] if match else text)
    part = KINDS[parts.kind].glob
    pattern = getattr(parts, part) if part else None
    if pattern is None or not glob.has_magic(pattern):
        return name, [parts]
    files = sorted(glob.glob(str(expand_home(pattern))), key=_natural)
    if not files:
        raise UserError(f"no file matches '{pattern}'")
    runs = [replace(parts, place=file) if part == "place" else replace(parts, argument=file) for file in files]
    return name or _stem(pattern), runs


def _natural(path: str) -> list[int | str]:
    """What paths are sorted by, so that run 10 comes after run 2."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path)]


def _stem(pattern: str) -> str:
    return re.sub(r"[*?\[\]-]+$", "", Path(pattern).stem) or Path(pattern).parent.name or "model"
