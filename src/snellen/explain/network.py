"""A network as attribution methods need it: opened, in eval mode, with its layers known and its targets chosen."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from snellen.errors import UserError
from snellen.explain.layer_proof import LayerProof
from snellen.explain.layer_trail import Layer
from snellen.explain.layers import OTHERS, FeatureLayers, find_layers
from snellen.lazy_torch import torch
from snellen.models.model import Model, normaliser

if TYPE_CHECKING:
    from torch import Tensor, nn

TargetClasses: TypeAlias = "Tensor | Sequence[int] | None"
Autocast = Callable[[], AbstractContextManager[Any]]

# What is known of networks, for as long as they live: their layers by the shape of the image, and those proved by name.
_LAYERS: weakref.WeakKeyDictionary[nn.Module, dict[tuple[int, ...], FeatureLayers]] = weakref.WeakKeyDictionary()
_PROVED: weakref.WeakKeyDictionary[nn.Module, dict[tuple[object, ...], Layer | None]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class OpenNetwork:
    """The torch network of a model, what makes its input of images, the autocast it runs under, and what errors call it."""

    network: nn.Module
    normalise: Callable[[Tensor], Tensor]
    autocast: Autocast
    name: str

    def layers(self, pixels: Tensor) -> FeatureLayers:
        """Its layers for input of this shape."""
        return feature_layers(self.network, pixels[:1], self.autocast)

    def pick(self, pixels: Tensor, layer: int | str | None, *, bottleneck: bool = False) -> Layer:
        """The layer that is meant, proved to lie as the image does; as a `bottleneck`, one that all information passes."""
        known = self.layers(pixels)
        spot = known.pick_bottleneck(layer, self.name) if bottleneck else known.pick(layer, self.name)
        return self.prove(pixels, spot)

    def prove(self, pixels: Tensor, spot: Layer) -> Layer:
        """A layer, in the way that it is laid out; one that does not lie as the image does is refused."""
        known = self.layers(pixels)
        if known.proved(spot.name):
            return known.layers[spot.name]
        by_name = _PROVED.setdefault(self.network, {})
        key = (spot.name, *pixels.shape[1:])
        if key not in by_name:
            with self.autocast():
                proved = LayerProof(self.network, pixels[:1], known.calls).of([spot])
            by_name[key] = proved[0] if proved else None
        if (layer := by_name[key]) is None:
            others = ", ".join(stage.name for stage in known.stages[-4:]) or OTHERS
            raise UserError(
                f"layer '{spot.name}' of {self.name} is not laid out like the image: a patch that moves in the image does not "
                f"move there; try {others}"
            )
        return layer


def open_network(model: Model | nn.Module, images: Tensor) -> OpenNetwork:
    """The network of ours, which takes bytes, or a bare one, which takes its own floats; images [B, 3, H, W] fit it."""
    if images.ndim != 4 or not len(images):
        raise ValueError(f"expected images [B, 3, H, W], at least one, got {list(images.shape)}")
    if isinstance(model, Model):
        if model.module is None or model.device is None:
            raise UserError(f"model '{model.name}' is not a torch network, so it has no gradients; {OTHERS}")
        half = model.precision == "bf16"
        return OpenNetwork(
            model.module,
            normaliser(model.card, model.device),
            lambda: torch.autocast("cuda", torch.bfloat16, enabled=half),
            f"model '{model.name}'",
        )
    if not isinstance(model, torch.nn.Module):
        raise UserError(f"expected a model of snellen or a torch network, got {type(model).__name__}; {OTHERS}")
    return OpenNetwork(model, _floats, nullcontext, "the model")


def _floats(images: Tensor) -> Tensor:
    if not images.is_floating_point():
        raise ValueError(
            "expected float images as the bare network takes them, got bytes; wrap it: models.from_torch(…)"
        )
    return images


@contextmanager
def eval_mode(network: nn.Module) -> Iterator[None]:
    """The network as it answers, not as it learns."""
    training = [part for part in network.modules() if part.training]
    if training:
        network.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def feature_layers(network: nn.Module, pixels: Tensor, autocast: Autocast | None = None) -> FeatureLayers:
    """The layers of a network, found by showing it one image [1, 3, H, W] the first time."""
    by_shape = _LAYERS.setdefault(network, {})
    shape = tuple(pixels.shape)
    if shape not in by_shape:
        with autocast() if autocast else nullcontext():
            by_shape[shape] = find_layers(network, pixels)
    return by_shape[shape]


def find_layer(
    network: nn.Module,
    pixels: Tensor,
    layer: int | str | None,
    autocast: Autocast | None = None,
    model: str = "the model",
) -> Layer:
    """The layer that is meant, found by showing the network one image [1, 3, H, W] the first time."""
    return OpenNetwork(network, _floats, autocast or nullcontext, model).pick(pixels, layer)


def class_answers(answers: Any) -> Tensor:
    """A classifier's answers [B, classes]."""
    answers = getattr(answers, "logits", answers)
    if not isinstance(answers, torch.Tensor) or answers.ndim != 2:
        got = list(answers.shape) if isinstance(answers, torch.Tensor) else type(answers).__name__
        raise UserError(f"expected a classifier's answers [B, classes], got {got}; {OTHERS}")
    return answers


def target_classes(answers: Tensor, targets: TargetClasses) -> Tensor:
    """The class numbers int64 [B] that are explained: those given, else the answers' own."""
    if targets is None:
        return answers.argmax(1)
    wanted = torch.as_tensor(targets, device=answers.device).long().reshape(-1)
    if len(wanted) != len(answers):
        raise ValueError(f"expected one target per image ({len(answers)}), got {len(wanted)}")
    if not ((wanted >= 0) & (wanted < answers.shape[1])).all():
        raise ValueError(f"expected targets in 0…{answers.shape[1] - 1}, got {wanted.min()} to {wanted.max()}")
    return wanted
