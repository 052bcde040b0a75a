"""A study folder: `study.json`, `pictures/`, `masks/` and, unless there is a PostgreSQL database, `study.sqlite`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from snellen.atomic import encode_json, write_atomic
from snellen.errors import UserError, option
from snellen.files import fit, read_bytes, read_json
from snellen.files.picture import read_image
from snellen.files.plain import place_here

SCHEMA, VERSION = "snellen study", 1
FILE, STORE = "study.json", "study.sqlite"
VARIABLE = "SNELLEN_STUDY_DATABASE"  # where a password does not show in lists of processes

Kind = Literal["main", "practice", "catch"]


class Question(msgspec.Struct, frozen=True):
    """What people are asked: `answers` are stored, `labels` are what buttons say, `tree` {name: parent} leads to them.

    Without a tree all answers are offered at once. `click` asks for the object's place, `captions` name several pictures.
    """

    text: str
    answers: tuple[str, ...]
    labels: dict[str, str]
    tree: dict[str, str] = {}
    click: bool = False
    cross: bool = False
    captions: tuple[str, ...] = ()

    @property
    def nodes(self) -> dict[str, list[str]]:
        """The choices under each name, in order; the first question's is ''."""
        if not self.tree:
            return {"": list(self.answers)}
        nodes: dict[str, list[str]] = {}
        for child, parent in self.tree.items():
            nodes.setdefault(parent if parent in self.tree else "", []).append(child)
        return nodes


class Item(msgspec.Struct, frozen=True):
    """One thing to show, as several people may see it: its pictures (numbers of files), the truth, and where it comes from.

    No person sees two items of one `source`. `options` says which answer each of several pictures stands for.
    """

    number: int
    kind: Kind
    sample: str
    label: str
    level: str
    distortion: str
    seed: int
    source: str
    width: int
    height: int
    pictures: tuple[int, ...]
    options: tuple[str, ...] = ()
    has_mask: bool = False


class Study(msgspec.Struct, frozen=True):
    """A study as it was made; nothing of it changes later. `secret` derives withdrawal codes and hides recruiting ids."""

    schema: Literal["snellen study"]
    version: int
    snellen: str
    created: str
    id: str
    secret: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    settings: dict[str, Any]
    per_person: int
    consent: str
    instructions: str
    question: Question
    items: tuple[Item, ...]
    external: bool = False  # its database is not in the folder

    def of_kind(self, kind: Kind) -> list[Item]:
        """The items of one kind, in order."""
        return [item for item in self.items if item.kind == kind]


class StudySettings(msgspec.Struct):
    """The settings that a study is served by; all others are kept to know how it was made."""

    protocol: Literal["kassaw2024", "forced", "better-map", "trust-map"]
    design: Literal["random", "balanced", "partition"]
    seed: int
    title: str
    frames: int
    fixation_ms: int
    mask_ms: int
    breaks: int
    card: bool
    recruit: bool
    scale: int | None
    most_people: int | None
    completion: str | None
    retention: str | None


class _Header(msgspec.Struct):
    schema: str
    version: int


class StudyFolder:
    """A study that is there: its settings and its pictures."""

    study: Study

    def __init__(self, path: Path | str) -> None:
        self.path = place_here(path, "the folder of a study")
        file = self.path / FILE
        if not os.path.isfile(file):
            raise UserError(
                f"'{path}' is not a study folder: it has no {FILE}; give the --out of `snellen study create`"
            )
        header: _Header = read_json(file, _Header, "study", most=1 << 30)
        if header.schema != SCHEMA:
            raise UserError(f"{file} is of schema '{header.schema}', expected '{SCHEMA}'")
        if header.version != VERSION:
            raise UserError(
                f"{file} is of version {header.version}, this snellen reads version {VERSION}; use the snellen that made it"
            )
        study: Study = read_json(file, Study, "study", most=1 << 30)
        fit(study.settings, StudySettings, file)
        if any(item.number != place for place, item in enumerate(study.items)):
            raise UserError(
                f"{file} does not number its items from 0 on, so it was changed; take the study from a backup"
            )
        self.study = study

    def picture(self, number: int) -> bytes:
        """The PNG file of a picture."""
        return read_image(_picture(self.path, number), "picture")

    def mask(self, item: Item) -> bytes:
        """The PNG file of the object of an item; it is never served."""
        return read_bytes(self.mask_file(item), "mask")

    def mask_file(self, item: Item) -> Path:
        """Where that is."""
        return _mask(self.path, item.number)

    def store_place(self, database: str | None) -> Path | str:
        """Where the answers are: the database that is given (or that of SNELLEN_STUDY_DATABASE), or the file in the folder."""
        if not self.study.external:
            if database:
                raise UserError(f"the answers of '{self.path}' are in its {STORE}; leave {option('database')} out")
            return self.path / STORE
        place = database or os.environ.get(VARIABLE)
        if not place:
            raise UserError(
                f"the answers of '{self.path}' are in a PostgreSQL database; give it with {option('database')} or in {VARIABLE}"
            )
        return place


def write_study(folder: Path, study: Study) -> None:
    """Write study.json; only its owner may read it, because it holds the secret."""
    write_atomic(folder / FILE, encode_json(msgspec.to_builtins(study)))
    os.chmod(folder / FILE, 0o600)


def write_picture(folder: Path, number: int, png: bytes) -> None:
    """Store a picture under its number."""
    write_atomic(_picture(folder, number), png)


def write_mask(folder: Path, number: int, png: bytes) -> None:
    """Store the object of the item with this number."""
    write_atomic(_mask(folder, number), png)


def settings_json(request: Any) -> dict[str, Any]:
    """The settings of a request as JSON has them, without what is given once."""
    from snellen.request import settings_of

    values = {item.name: getattr(request, item.name) for item in settings_of(type(request)) if not item.once}
    plain: dict[str, Any] = fit(msgspec.to_builtins(values, enc_hook=str), dict[str, Any], "settings")
    return plain


def _picture(folder: Path, number: int) -> Path:
    return folder / "pictures" / f"{number:06d}.png"


def _mask(folder: Path, number: int) -> Path:
    return folder / "masks" / f"{number:06d}.png"
