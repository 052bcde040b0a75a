"""The trail of an image through a network: which layers answer with places, in the order they do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.explain.feature_grid import Places, readings_of, tensor_in
from snellen.explain.hooks import hook_calls, hook_modules
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class Layer:
    """A layer by its name in the network, how its output is laid out, and `others`, how it may be laid out instead."""

    name: str
    places: Places
    others: tuple[Places, ...] = ()


def layer_trail(network: nn.Module, pixels: Tensor, calls: bool = False) -> list[Layer]:
    """The layers with places, in the order they answered; with `calls`, torch functions instead of modules.

    What attention does inside is no picture, and padding and adaptive pooling make no features: all are left out.
    """
    image = (int(pixels.shape[2]), int(pixels.shape[3]))
    trail: dict[str, Layer] = {}
    grid: list[tuple[int, int]] = []

    def note(name: str, output: Any) -> None:
        tensor = tensor_in(output)
        trail.pop(name, None)  # of a layer that answers more than once the last answer counts
        if tensor is None or not tensor.is_floating_point() or len(tensor) != 1 or name.startswith("pad."):
            return
        ways = readings_of(tuple(tensor.shape), image, grid[-1] if grid else None)
        if not ways or ways[0].count < 2:
            return
        places, *others = ways
        if places.layout != "tokens" and not any(layer.places.layout == "tokens" for layer in trail.values()):
            grid[:] = [(places.height, places.width)]
        trail[name] = Layer(name, places, tuple(others))

    inner = _inside_attention(network)

    def counts(name: str, module: nn.Module) -> bool:
        kind = type(module).__name__
        return name not in inner and not kind.startswith("Adaptive") and "Pad" not in kind

    with torch.no_grad(), hook_calls(note) if calls else hook_modules(network, note, counts):
        network(pixels)
    return list(trail.values())


def _inside_attention(network: nn.Module) -> set[str]:
    """The names of all modules inside an attention."""
    return {
        f"{name}.{below}"
        for name, module in network.named_modules()
        if name and re.search("attention|attn", name.rpartition(".")[2] + type(module).__name__, re.IGNORECASE)
        for below, _ in module.named_modules()
        if below
    }
