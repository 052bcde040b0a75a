"""Kinds of models that plug-ins add: their code stands in the fingerprints of the models that they load."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.models.card import Card
from snellen.models.kinds import KINDS, ModelKind
from snellen.models.model import Model, as_model
from snellen.plugins import PluginOrigin, PluginTable, instance_of, stamp
from snellen.user_code import user_code


def _fit(name: str, thing: object, origin: PluginOrigin) -> ModelKind:
    """A plug-in's kind, whose models and cards are marked with its code. A text names it by `name:` alone."""
    kind = instance_of(ModelKind, thing)
    if kind.prefix or kind.suffixes:
        raise UserError("its models are written as 'NAME:…' alone; leave prefix and suffixes out")
    mark = stamp(origin, kind.version)
    marked = functools.partial(_marked, name, mark)
    return replace(
        kind,
        load=marked(kind.load),
        card=None if kind.card is None else marked(kind.card),
        of_classes=None if kind.of_classes is None else marked(kind.of_classes),
    )


def _marked(name: str, mark: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, with the plug-in's code in the fingerprint of what it makes."""

    def make_marked(*arguments: Any) -> Any:
        with user_code(f"the plug-in '{name}'"):
            thing = make(*arguments)
        if thing is None:
            return None
        if isinstance(thing, Card):
            return _with_mark(thing, mark)
        model = thing if isinstance(thing, Model) else as_model(thing, name)
        return replace(model, card=_with_mark(model.card, mark))

    return make_marked


def _with_mark(card: Card, mark: str) -> Card:
    return replace(card, fingerprint=key_of([mark, card.fingerprint]))


PLUGGED = PluginTable("models", KINDS, _fit)
