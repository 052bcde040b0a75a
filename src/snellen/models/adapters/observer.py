"""`observer:NAME(arguments)`: observers of the phantom world, which answer as they are built to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snellen import notation
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.world import World
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.models.card import Card
from snellen.models.device import Device
from snellen.models.model import Model
from snellen.models.observers.evidence import probabilities
from snellen.models.observers.language import parse
from snellen.models.observers.support import support_of

if TYPE_CHECKING:
    from torch import Tensor

VERSION = 1  # bumped by hand when an observer answers otherwise


def observer_card(name: str, argument: str | None = None) -> Card:
    """The card of `observer:name`, without torch; its text holds every argument, so it stands for what is answered."""
    observer = parse(name)
    return Card(
        name=notation.name_of(type(observer)),
        text=f"observer:{observer}",
        fingerprint=key_of(["observer", VERSION, World.version, str(observer)]),
        classes=tuple(SHAPES),
        support=support_of(observer) is not None,
    )


def load_observer(name: str, argument: str | None = None, device: Device = None) -> Model:
    """The observer that a text names, as a model of the phantom classes; it always runs on the CPU."""
    observer = parse(name)

    looks = support_of(observer)

    def predict(images: Tensor) -> Tensor:
        return torch.from_numpy(probabilities(observer.answer(_arrays(images))))

    def support(images: Tensor) -> Tensor:
        assert looks is not None
        return torch.from_numpy(looks(_arrays(images)).astype(np.float32))

    device = torch.device("cpu")
    return Model(observer_card(name), predict, device, support=None if looks is None else support)


def _arrays(images: Tensor) -> np.ndarray:
    """uint8 [B, H, W, 3] of images [B, 3, H, W]."""
    return images.permute(0, 2, 3, 1).contiguous().cpu().numpy()
