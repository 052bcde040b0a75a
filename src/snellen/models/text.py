"""Model texts, `NAME=kind:place@argument`: read, written, and expanded to one text per run."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass, replace
from pathlib import Path

from snellen.errors import UserError, unknown
from snellen.files import expand_home
from snellen.files.braces import matches_of
from snellen.files.places import exists, is_file, is_folder
from snellen.files.remote.remote_path import PACKAGES, RemotePath, address_scheme
from snellen.files.weights import is_torchscript
from snellen.models.kinds import KINDS
from snellen.models.plugged import PLUGGED
from snellen.models.remote.address import MOST_REPEATS
from snellen.models.text_settings import split_settings

WEIGHTS = (".pt", ".pth", ".ckpt", ".bin", ".pth.tar")  # files of torch.save, which do not say what they are weights of


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
    name, colon, rest = text.partition(":")
    if not colon or "#" in name or address_scheme(text) in PACKAGES:
        return _bare_path(text)
    if name.endswith(".py"):
        name, rest = "python", text
    PLUGGED.find(name)
    if name not in KINDS:
        if "=" in name:
            own = name.partition("=")[0]
            raise UserError(f"a model cannot have the name '{own}'; write NAME= with letters, digits and _ . + - only")
        raise unknown("kind of model", name, PLUGGED.names())
    if not KINDS[name].takes_argument:
        return ModelText(name, rest)
    place, at, argument = rest.partition("@")
    return ModelText(name, place, argument if at else None)


def expand_text(text: str) -> tuple[str | None, list[ModelText]]:
    """The name in front of a model text, if any, and the text of each run: a `*` in its path makes one per file, `#repeats=R` of
    a service R that are asked one after the other."""
    match = re.match(r"([\w.+-]+)=(?=.)", text)
    name = match[1] if match else None
    parts = parse_text(text[match.end() :] if match else text)
    if KINDS[parts.kind].repeats:
        return name, repeats_of(parts)
    part = KINDS[parts.kind].glob
    place = getattr(parts, part) if part else None
    pattern, settings = split_settings(place or "")
    if not glob.has_magic(pattern):
        runs_in = KINDS[parts.kind].runs
        return name, [replace(parts, place=place) for place in runs_in(parts.place)] if runs_in else [parts]
    files = sorted(_matches(pattern), key=_natural)
    if not files:
        raise UserError(f"no file matches '{pattern}'")
    texts = [f"{file}#{settings}" if settings else file for file in files]
    runs = [replace(parts, place=text) if part == "place" else replace(parts, argument=text) for text in texts]
    return name or _stem(pattern), runs


def repeats_of(parts: ModelText) -> list[ModelText]:
    """The text of each repeat of a service. That of the first one is the service's own, so that repeats can be added later."""
    pattern = r"(?<=[#&])repeats=(\d{1,4})(?=&|$)"
    match = re.search(pattern, parts.place)
    wanted = int(match[1]) if match else 1
    if not 1 < wanted <= MOST_REPEATS:
        return [parts]  # what is wrong with it is told where the text is read
    return [
        replace(parts, place=re.sub(pattern, f"repeat={number}", parts.place, count=1))
        for number in range(1, wanted + 1)
    ]


def run_name(parts: ModelText, otherwise: str) -> str:
    """What a run is called: the file that its text names, without its ending and settings; a repeat by its number."""
    if match := re.search(r"(?<=[#&])repeat=(\d+)", parts.place):
        return otherwise if match[1] == "1" else f"{otherwise}-repeat-{match[1]}"
    return Path(split_settings(parts.argument)[0]).stem if parts.argument else otherwise


def _bare_path(text: str) -> ModelText:
    """The model of a path without a kind in front: of the kind that its ending, or a look at it, tells."""
    path, _ = split_settings(text)
    file = expand_home(path)
    for name, kind in KINDS.items():
        if path.endswith(kind.suffixes):
            return ModelText(name, "", text) if kind.takes_argument else ModelText(name, text)
    if is_folder(file) and exists(file / "config.json"):
        return ModelText("hf", text)
    if path.endswith(".py"):
        raise UserError(f"'{path}' holds code; name the function that returns the model: 'python:{path}:FUNCTION'")
    if path.endswith(WEIGHTS):
        if is_file(file) and is_torchscript(file):
            raise UserError(
                f"'{path}' is a TorchScript program; name it 'torchscript:{text}', if you trust it as a program"
            )
        raise UserError(
            f"'{path}' holds weights and no architecture; name it, for example 'zoo:timm:resnet18@{path}#like=resnet18.a1_in1k'"
        )
    if is_folder(file):
        raise UserError(f"'{path}' is a folder without config.json, so it is no model; --data takes folders of images")
    raise UserError(
        f"expected a model as 'kind:name' ({', '.join(KINDS)}), got '{text}'; for example 'timm:{path}.TAG'"
    )


def _matches(pattern: str) -> list[str]:
    """The files that a text with `*` names."""
    place = expand_home(pattern)
    return list(map(str, matches_of(place))) if isinstance(place, RemotePath) else glob.glob(str(place))


def _natural(path: str) -> list[int | str]:
    """What paths are sorted by, so that run 10 comes after run 2."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path)]


def _stem(pattern: str) -> str:
    return re.sub(r"[*?\[\]-]+$", "", Path(pattern).stem) or Path(pattern).parent.name or "model"
