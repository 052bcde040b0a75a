"""Features: what a layer of a network answers, place by place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError
from snellen.explain.feature_grid import tensor_in
from snellen.explain.hooks import hook_calls, hook_modules
from snellen.explain.layers import Layer, find_layers
from snellen.lazy_torch import torch
from snellen.models.model import Model, normaliser

if TYPE_CHECKING:
    from torch import Tensor


def layer_reader(model: Model, image: Tensor, layer: int | str | None) -> tuple[Layer, Callable[[Tensor], Tensor]]:
    """The layer that is meant, and a function from uint8 images [B, 3, H, W] to its features, float [B, units, h, w].

    `layer` is as for `gradcam`; it is found by showing the network one `image`, uint8 [1, 3, H, W].
    """
    network = model.module
    if network is None or model.device is None:
        raise UserError(f"model '{model.name}' is not a torch network, so it has no layers to look into; leave it out")
    normalised, half = normaliser(model.card, model.device), model.precision == "bf16"
    with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=half):
        layers = find_layers(network, normalised(image))
    spot = layers.pick(layer, f"model '{model.name}'")

    def read(images: Tensor) -> Tensor:
        outputs: list[Tensor] = []

        def note(name: str, output: Any) -> None:
            tensor = tensor_in(output)
            if name == spot.name and tensor is not None:
                outputs[:] = [spot.places.features(tensor).float()]

        hooks = hook_calls(note) if layers.calls else hook_modules(network, note, lambda name, _: name == spot.name)
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=half), hooks:
            network(normalised(images))
        return outputs[0]

    return spot, read
