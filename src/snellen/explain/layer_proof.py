"""Which layers of a network are proved to lie as the image does, each tried once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from snellen.explain.feature_grid import tensor_in
from snellen.explain.hooks import hook_layer
from snellen.explain.layer_trail import Layer, layer_trail
from snellen.explain.moved_patch import Evidence, gather_evidence, moved_patches
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor, nn

LARGEST = 512  # pixels per side of the images that layers are tried on which respond everywhere on small ones


@dataclass
class LayerProof:
    """Tries layers of a network on input of the shape of `pixels` [1, channels, H, W] and remembers which are proved.

    A layer that does not respond at all is let through: nothing shows that it is wrong, and its maps will be refused as
    empty. One that responds everywhere alike, as the last stage does where the image is small, is tried on larger images.
    """

    network: nn.Module
    pixels: Tensor
    calls: bool
    known: dict[str, Layer | None] = field(default_factory=dict)

    @property
    def refused(self) -> list[str]:
        """The names of the layers that are not laid out as the image."""
        return [name for name, layer in self.known.items() if layer is None]

    def of(self, layers: Sequence[Layer], *, known: bool = False) -> list[Layer]:
        """Those of some layers that are proved, in the way that is; with `known` none is tried that was not before."""
        new = {layer.name: layer for layer in layers if layer.name not in self.known}
        if new and not known:
            self.known |= self._try(new)
        proved = (self.known.get(layer.name) for layer in layers)
        return [layer for layer in proved if layer is not None]

    def matters(self, layer: Layer) -> bool:
        """Whether what the network answers depends on the places of a layer: behind the last block of many transformers only
        the class token does."""
        image = moved_patches(self.pixels)[0]

        def disturb(name: str, output: Any) -> Any:
            tensor = tensor_in(output)
            if name != layer.name or tensor is None:
                return None
            features = layer.places.features(tensor)
            behind = layer.places.fill(tensor, features.roll(1, 1) + features.std())
            return behind if tensor is output else type(output)((behind, *output[1:]))

        with torch.no_grad():
            before = tensor_in(self.network(image))
            with hook_layer(self.network, disturb, layer.name, self.calls):
                after = tensor_in(self.network(image))
        return before is None or after is None or not torch.equal(before, after)

    def _try(self, layers: dict[str, Layer]) -> dict[str, Layer | None]:
        results: dict[str, Layer | None] = {}
        silent: dict[str, Layer] = {}
        for name, evidence in self._evidence(layers, self.pixels).items():
            layer = layers[name]
            results[name] = _best(layer, evidence)
            if results[name] is None and not any(shown.speaks for shown in evidence if shown is not None):
                silent[name] = layer
        return results | (self._on_larger(silent) if silent else {})

    def _on_larger(self, layers: dict[str, Layer]) -> dict[str, Layer | None]:
        """The same on images of two and four times the size, for networks that take them."""
        results: dict[str, Layer | None] = dict.fromkeys(layers)
        for times in (2, 4):
            height, width = (times * side for side in self.pixels.shape[2:])
            open_names = [name for name, proved in results.items() if proved is None]
            if max(height, width) > LARGEST or not open_names:
                break
            larger = self.pixels.new_zeros((*self.pixels.shape[:2], height, width))
            try:
                trail = {layer.name: layer for layer in layer_trail(self.network, larger, self.calls)}
                there = {name: trail[name] for name in open_names if name in trail}
                found = self._evidence(there, larger)
            except Exception:  # whatever networks of one size do with another
                break
            for name, evidence in found.items():
                proved = _best(there[name], evidence) if any(evidence) else None
                ways = (layers[name].places, *layers[name].others)
                same = [way for way in ways if proved is not None and way.layout == proved.places.layout]
                results[name] = replace(layers[name], places=same[0], others=()) if same else None
        return results

    def _evidence(self, layers: dict[str, Layer], pixels: Tensor) -> dict[str, list[Evidence | None]]:
        readings = {name: (layer.places, *layer.others) for name, layer in layers.items()}
        return gather_evidence(self.network, pixels, readings, self.calls)


def _best(layer: Layer, evidence: Sequence[Evidence | None]) -> Layer | None:
    """The layer in the way of reading that is proved best; as it is where it does not respond; None where none is proved."""
    ways = (layer.places, *layer.others)
    shown = [(found.agreement, number) for number, found in enumerate(evidence) if found is not None and found.proves]
    if shown:
        return replace(layer, places=ways[max(shown)[1]], others=())
    return layer if all(found is None for found in evidence) else None
