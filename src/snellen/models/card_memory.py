"""Cards of weights that have a fixed name, cached between runs so that a plan need not load them."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

from snellen.cache_folder import snellen_home
from snellen.hashing import key_of
from snellen.models.card import Card
from snellen.models.kinds import KINDS
from snellen.models.text import ModelText, parse_text


def recall_card(parts: ModelText) -> Card | None:
    """The card of an earlier run; None where there is none, or the kind's content may change under its name."""
    file = _file(parts)
    try:
        if file is None or not file.exists():
            return None
        return Card.from_json({"gradients": KINDS[parts.kind].gradients, **json.loads(file.read_text())})
    except (ValueError, TypeError, OSError):
        return None


def remember_card(card: Card) -> None:
    """Keep a card for later runs, if its kind is remembered."""
    file = _file(parse_text(card.text))
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(card.to_json()))
    except OSError:
        pass  # a read-only home only costs the next plan some seconds


def forget_card(text: str) -> None:
    """Drop the card of a model text, so that the next plan reads the weights again."""
    if file := _file(parse_text(text)):
        file.unlink(missing_ok=True)


def _file(parts: ModelText) -> Path | None:
    package = KINDS[parts.kind].remembered
    if package is None:
        return None
    return snellen_home() / "cards" / f"{key_of([parts.kind, str(parts), metadata.version(package)])}.json"
