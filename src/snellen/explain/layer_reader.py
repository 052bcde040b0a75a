"""What a layer answers, place by place: its features for whole batches of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError
from snellen.explain.feature_grid import tensor_in
from snellen.explain.hooks import hook_layer
from snellen.explain.layer_trail import Layer
from snellen.explain.network import eval_mode, open_network
from snellen.lazy_torch import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor


def layer_reader(model: Model, image: Tensor, layer: int | str | None) -> tuple[Layer, Callable[[Tensor], Tensor]]:
    """The layer that is meant, and a function from uint8 images [B, 3, H, W] to its features, float [B, units, h, w].

    `layer` is as for `gradcam`; it is found by showing the network one `image`, uint8 [1, 3, H, W].
    """
    if model.module is None or model.device is None:
        raise UserError(f"model '{model.name}' is not a torch network, so it has no layers to look into; leave it out")
    opened = open_network(model, image)
    network, pixels = opened.network, opened.normalise(image)
    with eval_mode(network):
        spot, calls = opened.pick(pixels, layer), opened.layers(pixels).calls

    def read(images: Tensor) -> Tensor:
        outputs: list[Tensor] = []

        def note(name: str, output: Any) -> None:
            tensor = tensor_in(output)
            if name == spot.name and tensor is not None:
                outputs[:] = [tensor]

        with torch.inference_mode(), opened.autocast(), hook_layer(network, note, spot.name, calls):
            network(opened.normalise(images))
        return spot.places.features(outputs[0]).float()

    return spot, read
