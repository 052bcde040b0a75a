"""`chat:http://host/v1#model=NAME`: a vision-language model behind an OpenAI-compatible endpoint, as a classifier of any classes.

The classes are those of the data that are audited, or `#classes=FILE`; `#synonyms=FILE` says what they are called, as JSON. What
is asked is in `snellen.models.chat.question`, how replies are read in `snellen.models.chat.reading`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.models.chat.options import OptionOffer, offer_of
from snellen.models.chat.question import Questions
from snellen.models.chat.service import ChatService
from snellen.models.chat.settings import ChatSettings, parse_chat
from snellen.models.chat.tokens import ChatTokens
from snellen.models.chat.vocabulary import vocabulary_of
from snellen.models.device import Device
from snellen.models.model import Model, from_callable
from snellen.models.remote.address import Address
from snellen.models.remote.fleet import Fleet, fleet_of
from snellen.models.text_answers import with_states
from snellen.models.zero_shot.prompts import read_synonyms


def load_chat(place: str, argument: str | None, device: Device) -> Model:
    """The chat model of a text that names its classes."""
    model = chat_of(place, argument, device, None)
    assert model is not None
    return model


def chat_of(place: str, argument: str | None, device: Device, classes: Sequence[str] | None) -> Model | None:
    """The chat model as a classifier of these classes; None where they are given and the text names its own."""
    address, settings = parse_chat(place)
    if settings.classes and classes is not None:
        return None
    names = settings.classes or classes
    if names is None:
        raise UserError(
            f"'chat:{place}' has no classes of its own; add #classes=FILE, one name per line (an audit takes its data's)"
        )
    return chat_model(address, settings, names)


def chat_model(address: Address, settings: ChatSettings, classes: Sequence[str], fleet: Fleet | None = None) -> Model:
    """A chat model as a classifier of some classes. What it is asked stands for it, and nothing is asked yet."""
    synonyms = read_synonyms(settings.synonyms, classes) if settings.synonyms else {}
    vocabulary = vocabulary_of(classes, synonyms)
    offer = None
    if settings.options is not None:
        offer = offer_of(settings.options, settings.distractors, vocabulary.spoken, classes)
    questions = Questions(settings.protocol, vocabulary, settings.none, settings.order, offer)
    service = ChatService(fleet or fleet_of(address), settings, questions)
    service.fleet.meter = ChatTokens(len(questions.about("", 0).words), settings.picture, settings.max_tokens)
    facts = ["chat", address.url, settings.facts, list(classes), vocabulary.names]
    facts += [] if offer is None else [offer.facts]
    name = re.sub(r"[^\w.+]+", "-", f"{settings.model}-{settings.protocol}").strip("-")
    model = from_callable(service, with_states(classes), address.size, name=name, version=key_of(facts))
    card = replace(
        model.card,
        text=address.url,
        fingerprint=key_of([*facts, str(model.canvas), *address.of_repeat]),
        service=key_of([*facts, str(model.canvas)]),
        varies=True,
        unsure=True,
        chance=None if offer is None else offer.chance(settings.none),
        notices=tuple(_notices(name, settings, offer, len(classes))),
        at_once=address.at_once,
    )

    def asking(keys: np.ndarray, truth: np.ndarray) -> Model:
        about = service.about(keys, truth)
        return replace(whole, predict=about.predict, by_row=about.by_row)

    whole = replace(model, card=card, by_row=service.by_row, asking=asking, fleets=(service.fleet,))
    return whole


def _notices(name: str, settings: ChatSettings, offer: OptionOffer | None, classes: int) -> Iterator[str]:
    """What is to be known of a chat model before its numbers are read."""
    if (side := settings.picture.side) is not None:
        yield f"model '{name}' is sent pictures that are scaled to {side} pixels after they were distorted"
    if offer is not None:
        yield (
            f"model '{name}' is asked by the protocol '{settings.called}': the right class is always among the options, so "
            f"guessing is right on {offer.chance(settings.none):.1%}, not on {1 / classes:.1%}; compare its accuracy with no "
            "other protocol's"
        )
