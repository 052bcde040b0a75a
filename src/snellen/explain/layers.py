"""Which layer a map is read from: found by watching one image go through the network, and proved by moving a patch of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snellen.errors import UserError, unknown
from snellen.explain.layer_proof import LayerProof
from snellen.explain.layer_trail import Layer, layer_trail
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor, nn

OTHERS = "maskings that need no features are occlude, tiles and fourier"
MOST_TRIED = 24  # layers of one resolution that are tried until one is proved


@dataclass(frozen=True)
class FeatureLayers:
    """The layers of a network whose outputs have places, in the order they answered, and the stages among them.

    A stage is the outermost layer that last had one resolution; in a transformer of one resolution it is the first
    norm of each block, since behind the last one often only the class token matters. `blocks` are that transformer's.
    Stages and blocks are proved by moving a patch of the image; `refused` are the layers that were not.
    """

    layers: Mapping[str, Layer]
    stages: Sequence[Layer]
    calls: bool = False  # layers are calls of torch functions, not modules
    blocks: Sequence[Layer] = ()
    refused: Sequence[str] = ()

    def proved(self, name: str) -> bool:
        """Whether a layer is one of the stages or blocks, which were proved."""
        return any(layer.name == name for layer in (*self.stages, *self.blocks))

    def pick(self, layer: int | str | None, model: str = "the model") -> Layer:
        """The layer of a name, of a stage counted from the end (−1 is the last) or of `stage3` (the third); None: −1."""
        if not self.stages and self.refused and not isinstance(layer, str):
            tried = ", ".join(self.refused[:3])
            raise UserError(
                f"no layer of {model} is laid out like the image: a patch that moves in the image does not move in {tried}; "
                f"{OTHERS}"
            )
        if not self.layers:
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
    """Show the network one image (float [1, 3, H, W]), note which layers answer with places, and prove those that are offered."""
    trail, calls = layer_trail(network, pixels), False
    if not trail:
        trail, calls = layer_trail(network, pixels, calls=True), True
    proof = LayerProof(network, pixels, calls)
    blocks = [] if calls else _blocks(network, trail)
    norms = _norms(network, blocks, trail)
    row = {layer.name: layer for layer in proof.of_row([*norms[:1], *blocks, *norms])}
    stages, passed = ([row[layer.name] for layer in part if layer.name in row] for part in (norms, blocks))
    stages = stages if blocks else _outermost(trail, proof)
    layers = {layer.name: layer for layer in trail} | {layer.name: layer for layer in (*stages, *passed)}
    return FeatureLayers(layers, stages, calls, passed, proof.refused)


def _outermost(trail: Sequence[Layer], proof: LayerProof) -> list[Layer]:
    """Of each resolution the outermost layer that answered last, of those that are proved, from fine to coarse.

    Of the last resolution, and of tokens beside others, it is the last layer before on which answers depend: behind it perhaps
    only a class token counts.
    """
    order = {layer.name: number for number, layer in enumerate(trail)}
    groups: dict[tuple[int, int], list[Layer]] = {}
    for layer in trail:
        groups.setdefault((layer.places.height, layer.places.width), []).append(layer)
    for same in groups.values():
        same.sort(key=lambda layer: (layer.name.count("."), -order[layer.name]))
    proof.of([same[0] for same in groups.values()])
    stages = []
    for same in groups.values():
        outer = proof.of(same[:1], known=True)
        if outer and (not (outer[0].places.extra or trail[-1] in same) or proof.matters(outer[0])):
            stages += outer
            continue
        others = sorted(same[1:], key=lambda layer: -order[layer.name]) if outer else same[1:]
        better = (layer for layer in proof.of(others[:MOST_TRIED]) if proof.sure(layer) and proof.matters(layer))
        stages += [next(better, *outer)] if outer else list(itertools.islice(better, 1))
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
