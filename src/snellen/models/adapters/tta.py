"""`tta(flip):MODEL`: a model with test-time augmentation, the mean of its probabilities for an image and its mirror image."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.models.device import Device
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor


def load_tta(place: str, argument: str | None, device: Device) -> Model:
    """The model of a text, asked about each image and its mirror image."""
    from snellen.models.subject import subjects_of

    subjects = subjects_of(place, device)
    if len(subjects) != 1:
        raise UserError(f"'tta(flip):{place}' names {len(subjects)} runs; name one model, or make an ensemble of them")
    return with_flip(subjects[0].model(device))


def with_flip(model: Model) -> Model:
    """A classifier that answers the mean of its probabilities for an image and its mirror image."""
    if not model.card.live or model.card.task != "classification":
        raise UserError(
            f"'{model.name}' gives no probabilities of new images; test-time augmentation is of live classifiers"
        )

    def predict(images: Tensor) -> Tensor:
        count = len(images)
        answers = model(torch.cat([images, images.flip(3)]))
        return (answers[:count] + answers[count:]) / 2

    card = replace(
        model.card,
        name=f"{model.name} flipped too",
        text=f"tta:{model.card.text}",
        fingerprint=key_of(["tta", "flip", model.card.fingerprint]),
        gradients=False,
        support=False,
        probes=None,
        stated=None,
    )
    return Model(card, predict, model.device, floats=model.floats, fleets=model.fleets)
