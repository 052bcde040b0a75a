"""From model texts to the runs that will be asked, planned without torch and loaded once."""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from snellen.cache_folder import snellen_home
from snellen.errors import UserError, unknown
from snellen.hashing import key_of
from snellen.models.adapters.predictions import load_predictions, predictions_card
from snellen.models.adapters.python import load_python
from snellen.models.adapters.timm import load_timm
from snellen.models.adapters.torchvision import load_torchvision
from snellen.models.adapters.zoo import load_zoo, zoo_card
from snellen.models.card import Card
from snellen.models.model import Model
from snellen.models.observers import load_observer, observer_card

LOADERS: dict[str, Callable[[str, str | None, Any], Model]] = {
    "timm": load_timm,
    "torchvision": load_torchvision,
    "zoo": load_zoo,
    "python": load_python,
    "predictions": load_predictions,
    "observer": load_observer,
}
_REMEMBERED = {
    "timm": "timm",
    "torchvision": "torchvision",
}  # fixed weights by name: kind → the package that names them


@dataclass
class Subject:
    """One run of one model: its card for the plan, and the model itself once somebody needs it.

    `by_text` says that the card's text is enough to load it again, here or on another machine.
    """

    name: str
    run: str
    card: Card
    loaded: Model | None = field(default=None, repr=False)
    by_text: bool = True

    def model(self, device: Any = None) -> Model:
        """The model, loaded on first use; weights that differ from the planned ones are refused."""
        if self.loaded is None:
            self.loaded = load_text(self.card.text, device)
            if self.loaded.card.fingerprint != self.card.fingerprint:
                forget(self.card.text)
                raise UserError(f"the weights of '{self.card.text}' changed since they were last seen; start again")
        return self.loaded


def subjects_of(text: str, device: Any = None) -> list[Subject]:
    """The runs of a model text: `NAME=` in front names it, a `*` in its path makes one run per file."""
    name, texts = expanded(text)
    return [_subject(name, one, device) for one in texts]


def expanded(text: str) -> tuple[str | None, list[str]]:
    """The given name, if any, and the model text of each run."""
    match = re.match(r"([\w.+-]+)=(?=.)", text)
    name = match[1] if match else None
    rest = text[match.end() :] if match else text
    kind, place, argument = split(rest)
    path = argument if kind in ("zoo", "python") else place if kind == "predictions" else None
    if path is None or not glob.has_magic(path):
        return name, [joined(kind, place, argument)]
    found = sorted(glob.glob(path), key=_natural)
    if not found:
        raise UserError(f"no file matches '{path}'")
    if kind == "predictions":
        return name or _stem(path), [joined(kind, one, None) for one in found]
    return name or _stem(path), [joined(kind, place, one) for one in found]


def split(text: str) -> tuple[str, str, str | None]:
    """(kind, place, argument) of a model text; a bare checkpoint path is a zoo model, `timm/name` is understood."""
    if text.startswith("timm/"):
        return "timm", text.removeprefix("timm/"), None
    if text.endswith(".safetensors") and ":" not in text:
        return "zoo", "", text
    kind, colon, rest = text.partition(":")
    if not colon:
        hint = f"; for example 'timm:{text}' or 'zoo:ARCH@{text}'"
        raise UserError(f"expected a model as 'kind:name' ({', '.join(LOADERS)}), got '{text}'{hint}")
    if kind not in LOADERS:
        raise unknown("kind of model", kind, LOADERS)
    if kind in ("predictions", "timm", "observer"):
        return kind, rest, None
    place, at, argument = rest.partition("@")
    return kind, place, argument if at else None


def joined(kind: str, place: str, argument: str | None) -> str:
    """The model text of its parts."""
    return f"{kind}:{place}" + ("" if argument is None else f"@{argument}")


def load_text(text: str, device: Any = None) -> Model:
    """The model of one run's text."""
    kind, place, argument = split(text)
    model = LOADERS[kind](place, argument, device)
    return model.named(model.name, text)


def _subject(name: str | None, text: str, device: Any) -> Subject:
    kind, place, argument = split(text)
    model = None
    if kind == "zoo":
        card = zoo_card(place, argument)
    elif kind == "predictions":
        card = predictions_card(place)
    elif kind == "observer":
        card = observer_card(place)
    elif known := _recalled(kind, text):
        card = known
    else:
        model = load_text(text, device)
        card = model.card
        _remember(kind, card)
    run = Path(argument).stem if argument else card.name
    return Subject(name or card.name, run, replace(card, text=text), model)


def _memory(kind: str, text: str) -> Path | None:
    """Where the card of a named set of weights is kept between runs; None for kinds whose content may change."""
    if kind not in _REMEMBERED:
        return None
    version = metadata.version(_REMEMBERED[kind])
    return snellen_home() / "cards" / f"{key_of([kind, text, version])}.json"


def _recalled(kind: str, text: str) -> Card | None:
    file = _memory(kind, text)
    try:
        return Card.from_json(json.loads(file.read_text())) if file and file.exists() else None
    except (ValueError, TypeError, OSError):
        return None


def _remember(kind: str, card: Card) -> None:
    file = _memory(kind, card.text)
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(card.to_json()))
    except OSError:
        pass  # a read-only home only costs the next plan some seconds


def forget(text: str) -> None:
    """Drop the remembered card of a model text, so that the next plan reads the weights anew."""
    if file := _memory(split(text)[0], text):
        file.unlink(missing_ok=True)


def _natural(path: str) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path)]


def _stem(pattern: str) -> str:
    return re.sub(r"[*?\[\]-]+$", "", Path(pattern).stem) or Path(pattern).parent.name or "model"
