"""Which layer a map is read from: found by watching one image go through the network; and what it answers, place by place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError, unknown
from snellen.explain.feature_grid import Places, places_of, tensor_in
from snellen.explain.hooks import hook_calls, hook_modules
from snellen.lazy_torch import torch
from snellen.models.model import Model, normaliser

if TYPE_CHECKING:
    from torch import Tensor, nn

OTHERS = "maskings that need no features are occlude, tiles and fourier"


@dataclass(frozen=True)
class Layer:
    """A layer by its name in the network, and how its output is laid out."""

    name: str
    places: Places


@dataclass(frozen=True)
class FeatureLayers:
    """The layers of a network whose outputs have places, in the order they answered, and the stages among them.

    A stage is the outermost layer that last had one resolution; in a transformer of one resolution it is the first
    norm of each block, since behind the last one often only the class token matters. `blocks` are that transformer's.
    """

    layers: Mapping[str, Layer]
    stages: Sequence[Layer]
    calls: bool = False  # layers are calls of torch functions, not modules
    blocks: Sequence[Layer] = ()

    def pick(self, layer: int | str | None, model: str = "the model") -> Layer:
        """The layer of a name, of a stage counted from the end (−1 is the last) or of `stage3` (the third); None: −1."""
        if not self.stages:
            raise UserError(f"{model} has neither convolutional features nor tokens to make a map of; {OTHERS}")
        if layer is None or isinstance(layer, int):
            index = -1 if layer is None else layer
            if not -len(self.stages) <= index < 0:
                names = ", ".join(stage.name for stage in self.stages)
                raise UserError(f"expected layer from {-len(self.stages)} to -1 ({names}), got {layer}")
            return self.stages[index]
        layers, spellings = self.layers.values(), [layer, *_stage_names(layer)]
        matches = [known for name in spellings for known in layers if known.name == name]
        matches = matches or [known for name in spellings for known in layers if known.name.endswith(f".{name}")]
        if matches:
            return matches[0]
        raise unknown("layer", layer, [*(stage.name for stage in self.stages), *self.layers])

    def pick_bottleneck(self, layer: int | str | None, model: str = "the model") -> Layer:
        """The layer as `pick` takes it, but one that all information passes: of a transformer the block, not its norm.

        None is the third stage from the end, the middle one of three: `layer2` of a ResNet, 28 × 28 places at 224 pixels.
        Of a transformer it is the block a quarter of the way: later ones have told the class token, which has no place.
        """
        passed = replace(self, stages=self.blocks or self.stages)
        if layer is None and self.stages:
            count = len(passed.stages)
            layer = (
                (max(count // 4, 1) if self.blocks else max(count - 2, 1) if count > 3 else count // 2 + 1) - 1 - count
            )
        return passed.pick(layer, model)


def find_layers(network: nn.Module, pixels: Tensor) -> FeatureLayers:
    """Show the network one image (float [1, 3, H, W]) and note which layers answer with places."""
    trail, calls = _trail(network, pixels), False
    if not trail:
        trail, calls = _trail(network, pixels, calls=True), True
    blocks = [] if calls else _blocks(network, trail)
    stages = _norms(network, blocks, trail) if blocks else _outermost(trail)
    return FeatureLayers({layer.name: layer for layer in trail}, stages, calls, blocks)


def _trail(network: nn.Module, pixels: Tensor, calls: bool = False) -> list[Layer]:
    """The layers with places, in the order they answered; with `calls`, torch functions instead of modules.

    What attention does inside is no picture, and padding and adaptive pooling make no features: all are left out.
    """
    image = (int(pixels.shape[2]), int(pixels.shape[3]))
    trail: list[Layer] = []
    grid: list[tuple[int, int]] = []

    def note(name: str, output: Any) -> None:
        tensor = tensor_in(output)
        if tensor is None or not tensor.is_floating_point() or len(tensor) != 1 or name.startswith("pad."):
            return
        places = places_of(tuple(tensor.shape), image, grid[-1] if grid else None)
        if places is None or places.count < 2:
            return
        if places.layout != "tokens" and not any(layer.places.layout == "tokens" for layer in trail):
            grid[:] = [(places.height, places.width)]
        trail.append(Layer(name, places))

    inner = _inside_attention(network)

    def counts(name: str, module: nn.Module) -> bool:
        return name not in inner and not type(module).__name__.startswith("Adaptive")

    with torch.no_grad(), hook_calls(note) if calls else hook_modules(network, note, counts):
        network(pixels)
    return trail


def _inside_attention(network: nn.Module) -> set[str]:
    """The names of all modules inside an attention."""
    return {
        f"{name}.{below}"
        for name, module in network.named_modules()
        if name and re.search("attention|attn", name.rpartition(".")[2] + type(module).__name__, re.IGNORECASE)
        for below, _ in module.named_modules()
        if below
    }


def _outermost(trail: Sequence[Layer]) -> list[Layer]:
    """Of each resolution the outermost layer that answered last, from fine to coarse."""
    stages: list[Layer] = []
    for places in dict.fromkeys((layer.places.height, layer.places.width) for layer in trail):
        same = [layer for layer in trail if (layer.places.height, layer.places.width) == places]
        depth = min(layer.name.count(".") for layer in same)
        stages.append([layer for layer in same if layer.name.count(".") == depth][-1])
    order = {layer.name: number for number, layer in enumerate(trail)}
    return sorted(stages, key=lambda layer: order[layer.name])


def _blocks(network: nn.Module, trail: Sequence[Layer]) -> list[Layer]:
    """The blocks of a transformer that keeps one grid of tokens from end to end; none for other networks."""
    tokens = [layer for layer in trail if layer.places.layout == "tokens"]
    grids = {(layer.places.height, layer.places.width) for layer in tokens}
    if len(grids) != 1 or trail[-1].places.layout != "tokens":
        return []
    rows = (torch.nn.ModuleList, torch.nn.Sequential)
    blocks = [layer for layer in tokens if isinstance(_parent(network, layer.name), rows) and _is_block(network, layer)]
    depth = min((layer.name.count(".") for layer in blocks), default=0)
    return [layer for layer in blocks if layer.name.count(".") == depth]


def _norms(network: nn.Module, blocks: Sequence[Layer], trail: Sequence[Layer]) -> list[Layer]:
    """Of each block the norm it begins with; the output of the block before where it begins otherwise."""
    norms = []
    for number, block in enumerate(blocks):
        inside = [layer for layer in trail if layer.name.startswith(f"{block.name}.")]
        if inside and "norm" in type(network.get_submodule(inside[0].name)).__name__.lower():
            norms.append(inside[0])
        else:
            norms.append(blocks[max(number - 1, 0)])
    return norms


def _is_block(network: nn.Module, layer: Layer) -> bool:
    """A block holds layers of its own."""
    return any(True for _ in network.get_submodule(layer.name).children())


def _parent(network: nn.Module, name: str) -> nn.Module:
    return network.get_submodule(name.rpartition(".")[0])


def _stage_names(text: str) -> list[str]:
    """What `stage3` is called in other people's networks."""
    match = re.fullmatch(r"stage(\d+)", text)
    if match is None:
        return []
    number = int(match[1])
    return [f"layer{number}", f"stages.{number - 1}", f"layers.{number - 1}", f"blocks.{number - 1}"]


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
