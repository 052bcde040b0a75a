"""Cards of weights that have a fixed name, cached between runs so that a plan need not load them."""

from __future__ import annotations

import json
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.files import expand_home, read_json
from snellen.files.places import is_folder
from snellen.files.plain import snellen_home
from snellen.files.remote.remote_path import RemotePath
from snellen.hashing import key_of
from snellen.models.card import Card
from snellen.models.kinds import KINDS
from snellen.models.text import ModelText, parse_text


def recall_card(parts: ModelText) -> Card | None:
    """The card of an earlier run; None where there is none, or the kind's content may change under its name."""
    file = _file(parts)
    if file is None or not file.exists():
        return None
    try:
        facts: dict[str, Any] = read_json(file, dict[str, Any], "card")
        return Card.from_json({"gradients": KINDS[parts.kind].gradients, **facts}, file)
    except UserError:
        return None  # a damaged card only costs this plan some seconds


def remember_card(card: Card) -> None:
    """Keep a card for later runs, if its kind is remembered."""
    file = _file(parse_text(card.text))
    if file is not None:
        with suppress(UserError):  # a home that cannot be written to only costs the next plan some seconds
            write_atomic(file, json.dumps(card.to_json()).encode())


def forget_card(text: str) -> None:
    """Drop the card of a model text, so that the next plan reads the weights again."""
    if file := _file(parse_text(text)):
        with suppress(OSError):
            file.unlink()


def _file(parts: ModelText) -> Path | None:
    package = KINDS[parts.kind].remembered
    if package is None or isinstance(place := expand_home(parts.place), RemotePath) or is_folder(place):
        return None
    return snellen_home() / "cards" / f"{key_of([parts.kind, str(parts), metadata.version(package)])}.json"
