"""`ensemble:MODEL,MODEL,…`: the mean of the probabilities of models with the same classes and canvas.

Members are model texts of any kind, in brackets where they are ensembles themselves: `ensemble:a.onnx,(ensemble:b.pt2,c.pt2)`.
A `*` in the path of one makes a member of each file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.models.card import Card
from snellen.models.device import Device, choose_device
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor

MOST_MEMBERS = 1000
DEEPEST = 20


def load_ensemble(place: str, argument: str | None, device: Device) -> Model:
    """The ensemble of the models that a text names."""
    from snellen.models.subject import subjects_of

    members = [
        subject.model(device).named(
            f"{subject.name}" if subject.name == subject.run else f"{subject.name} ({subject.run})"
        )
        for text in split_members(place)
        for subject in subjects_of(text, device)
    ]
    return average(members, f"ensemble:{place}", device)


def average(members: Sequence[Model], text: str, device: Device = None) -> Model:
    """One model of several: it answers the mean of their probabilities."""
    if not 2 <= len(members) <= MOST_MEMBERS:
        raise UserError(f"'{text}' has {len(members)} member; expected two or more, with commas between")
    first = members[0].card
    for member in members:
        _check_alike(first, member.card)
    if len({member.card.fingerprint for member in members}) < len(members):
        raise UserError(f"'{text}' names the same model twice; name each once")
    where = choose_device(device)

    def predict(images: Tensor) -> Tensor:
        answers = [member(images).to(where) for member in members]
        if len({answer.shape for answer in answers}) > 1:
            shapes = " and ".join(sorted({str(answer.shape[1]) for answer in answers}))
            raise UserError(f"the members of '{text}' answer {shapes} classes; expected the same")
        return torch.stack(answers).mean(0)

    alike = all((member.card.mean, member.card.std) == (first.mean, first.std) for member in members)
    card = Card(
        name="+".join(member.name for member in members)[:80],
        text=text,
        fingerprint=key_of(["ensemble", sorted(member.card.fingerprint for member in members)]),
        classes=first.classes,
        canvas=first.canvas,
        mean=first.mean if alike else None,
        std=first.std if alike else None,
        notices=tuple(dict.fromkeys(notice for member in members for notice in member.card.notices)),
        varies=any(member.card.varies for member in members),
    )
    fleets = [fleet for member in members for fleet in member.fleets]
    floats = alike and all(member.floats for member in members)
    return Model(card, predict, where, floats=floats, fleets=fleets)


def _check_alike(first: Card, other: Card) -> None:
    """Refuse models whose probabilities cannot be averaged."""
    pair = f"'{first.name}' and '{other.name}'"
    if not other.live or other.task != "classification":
        raise UserError(f"'{other.name}' gives no probabilities of new images; an ensemble is of live classifiers")
    if first.canvas != other.canvas:
        raise UserError(
            f"{pair} see images of {first.canvas or 'any size'} and {other.canvas or 'any size'}; an ensemble needs one canvas, "
            "which #size=, #resize=, #fit= and #interpolation= set"
        )
    if first.classes != other.classes:
        few = [", ".join((card.classes or ("none named",))[:3]) for card in (first, other)]
        raise UserError(
            f"{pair} have other classes ({few[0]}… and {few[1]}…); an ensemble needs the same in the same order"
        )


def split_members(place: str) -> list[str]:
    """The texts of the members: parts at a comma outside brackets behind which a model text begins."""
    begins = _beginning()
    parts, start, depth = [], 0, 0
    for at, letter in enumerate(place):
        depth += (letter in "([") - (letter in ")]")
        if depth > DEEPEST:
            raise UserError(f"'ensemble:{place[:60]}…' is nested more than {DEEPEST} deep")
        if letter == "," and depth == 0 and begins.match(place, at + 1):
            parts.append(place[start:at])
            start = at + 1
    parts.append(place[start:])
    texts = [part.strip() for part in parts]
    return [text[1:-1] if text.startswith("(") and text.endswith(")") else text for text in texts if text]


def _beginning() -> re.Pattern[str]:
    """What a model text begins with: its kind, or a path whose ending tells the kind."""
    from snellen.models.kinds import KINDS
    from snellen.models.plugged import PLUGGED

    kinds = [re.escape(name) + ":" for name in PLUGGED.names()] + [
        re.escape(kind.prefix) for kind in KINDS.values() if kind.prefix
    ]
    endings = "|".join(re.escape(ending) for kind in KINDS.values() for ending in kind.suffixes)
    return re.compile(rf"\s*(?:\(|(?:[\w.+-]+=)?(?:{'|'.join(kinds)})|[^,#&()]+(?:{endings})(?=[,#)]|$))")
