"""Which layers of a network are proved to lie as the image does, each tried once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from snellen.explain.feature_grid import tensor_in
from snellen.explain.hooks import hook_layer
from snellen.explain.layer_trail import Layer
from snellen.explain.moved_patch import Evidence, gather_evidence, moved_patches
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor, nn

SURE = 0.7  # agreement of a layer that is taken in place of another


@dataclass
class LayerProof:
    """Tries layers of a network on input of the shape of `pixels` [1, channels, H, W] and remembers which are proved.

    A layer that does not respond at all is let through: nothing shows that it is wrong, and its maps will be refused as
    empty.
    """

    network: nn.Module
    pixels: Tensor
    calls: bool
    known: dict[str, Layer | None] = field(default_factory=dict)
    evidence: dict[str, list[Evidence | None]] = field(default_factory=dict)

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

    def of_row(self, layers: Sequence[Layer]) -> list[Layer]:
        """The same for layers of a row of blocks, which hand on their tokens in one order: where the first is proved, those
        behind it are too unless their response moves elsewhere. Attention mixes it, so that less and less of it moves along."""
        self.of(layers)
        if layers and self.known[layers[0].name] is not None:
            for layer in layers:
                against = any(item is not None and item.contradicts for item in self.evidence[layer.name])
                if self.known[layer.name] is None and not against:
                    self.known[layer.name] = layer
        return self.of(layers)

    def sure(self, layer: Layer) -> bool:
        """Whether a layer is proved beyond what one of many tries comes to by chance."""
        return any(item is not None and item.proves and item.agreement >= SURE for item in self.evidence[layer.name])

    def matters(self, layer: Layer) -> bool:
        """Whether what the network answers depends on the places of a layer: behind the last block of many transformers only
        the class token does."""
        image = moved_patches(self.pixels)[0]

        def disturb(name: str, output: Any) -> Any:
            tensor = tensor_in(output)
            if name != layer.name or tensor is None or not layer.places.fits(tensor):
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
        readings = {name: (layer.places, *layer.others) for name, layer in layers.items()}
        evidence = gather_evidence(self.network, self.pixels, readings, self.calls)
        self.evidence |= evidence
        return {name: _best(layers[name], shown) for name, shown in evidence.items()}


def _best(layer: Layer, evidence: Sequence[Evidence | None]) -> Layer | None:
    """The layer in the way of reading that is proved best; as it is where it does not respond; None where none is proved."""
    ways = (layer.places, *layer.others)
    proofs = [(item.agreement, number) for number, item in enumerate(evidence) if item is not None and item.proves]
    if proofs:
        return replace(layer, places=ways[max(proofs)[1]], others=())
    return layer if all(item is None for item in evidence) else None
