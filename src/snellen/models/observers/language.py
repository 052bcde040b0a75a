"""The table of observers, their text form, and the model made of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snellen import notation
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.world import World
from snellen.hashing import key_of
from snellen.models.card import Card
from snellen.models.model import Model
from snellen.models.observers.black import Black
from snellen.models.observers.chance import Guess, Mixture
from snellen.models.observers.evidence import Observer, probabilities
from snellen.models.observers.marked import Background, Centre, Patches, Texture
from snellen.models.observers.remembered import Memory, Oracle
from snellen.models.observers.silhouette import Shape
from snellen.models.observers.straight import Edges

if TYPE_CHECKING:
    from torch import Tensor

VERSION = 1  # bumped by hand when an observer answers otherwise

OBSERVERS: dict[str, type] = {
    "background": Background,
    "texture": Texture,
    "shape": Shape,
    "centre": Centre,
    "edges": Edges,
    "black": Black,
    "patches": Patches,
    "memory": Memory,
    "oracle": Oracle,
    "guess": Guess,
    "mixture": Mixture,
}


def parse(source: str) -> Observer:
    """The observer that a text such as `background` or `mixture(oracle, guess, 0.3)` names."""
    return _built(notation.read(source))


def observer_card(name: str) -> Card:
    """The card of `observer:name`, without torch; its text holds every argument, so it stands for what is answered."""
    observer = parse(name)
    return Card(
        name=notation.name_of(type(observer)),
        text=f"observer:{observer}",
        fingerprint=key_of(["observer", VERSION, World.version, str(observer)]),
        classes=tuple(SHAPES),
    )


def load_observer(name: str, argument: str | None, device: Any) -> Model:
    """The observer that a text names, as a model of the phantom classes."""
    from snellen.lazy_torch import torch

    observer = parse(name)

    def predict(images: Tensor) -> Tensor:
        return torch.from_numpy(probabilities(observer.answer(images.permute(0, 2, 3, 1).contiguous().cpu().numpy())))

    return Model(observer_card(name), predict, torch.device("cpu"))


def _built(node: Any) -> Any:
    return notation.build(node, OBSERVERS, "observer", _argument)


def _argument(node: Any) -> Any:
    """Arguments of observers: observers where they are calls or name one, plain values else."""
    return _built(node) if isinstance(node, notation.Call) or node in OBSERVERS else node
