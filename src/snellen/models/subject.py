"""From model texts to the runs to audit, planned without torch and loaded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from snellen.errors import UserError
from snellen.models.card import Card
from snellen.models.card_memory import forget_card, recall_card, remember_card
from snellen.models.device import Device
from snellen.models.kinds import KINDS
from snellen.models.model import Model
from snellen.models.text import ModelText, expand_text, parse_text, run_name


@dataclass
class Subject:
    """One run of one model: its card for the plan, and the model itself once it is needed.

    `by_text` says that the card's text is enough to load it again, here or on another machine.
    """

    name: str
    run: str
    card: Card
    loaded: Model | None = field(default=None, repr=False)
    by_text: bool = True

    def model(self, device: Device = None) -> Model:
        """The model, loaded on first use; weights that differ from the planned ones are refused."""
        if self.loaded is None:
            self.loaded = load_text(self.card.text, device)
            if self.loaded.card.fingerprint != self.card.fingerprint:
                forget_card(self.card.text)
                raise UserError(f"the weights of '{self.card.text}' changed since they were last seen; start again")
        return self.loaded


def subjects_of(text: str, device: Device = None, classes: Sequence[str] | None = None) -> list[Subject]:
    """The runs of a model text: `NAME=` in front names it, a `*` in its path makes one run per file. `classes` are those of the
    data, for kinds of models that have none of their own.

    >>> from snellen.models import subjects_of
    >>> [subject.name for subject in subjects_of("eye=observer:shape")]
    ['eye']
    """
    name, runs = expand_text(text)
    return [_subject(name, run, device, classes) for run in runs]


def load_text(text: str, device: Device = None) -> Model:
    """The model of one run's text."""
    parts = parse_text(text)
    model = KINDS[parts.kind].load(parts.place, parts.argument, device)
    return model.named(model.name, text)


def _subject(name: str | None, parts: ModelText, device: Device, classes: Sequence[str] | None) -> Subject:
    text, kind = str(parts), KINDS[parts.kind]
    model = None
    if kind.of_classes and classes is not None:
        model = kind.of_classes(parts.place, parts.argument, device, classes)
        if model is not None:
            own = run_name(parts, model.name)
            return Subject(name or model.name, own, replace(model.card, text=text), model, by_text=False)
    card = kind.card(parts.place, parts.argument) if kind.card else recall_card(parts)
    if card is None:
        model = load_text(text, device)
        card = model.card
        remember_card(card)
    return Subject(name or card.name, run_name(parts, card.name), replace(card, text=text), model)
