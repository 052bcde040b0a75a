"""Layers of self-attention: which there are, how their tokens lie in the image, and what they attend to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.explain.feature_grid import Places
from snellen.explain.layers import FeatureLayers
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class AttentionLayer:
    """A layer of self-attention by its name in the network, and the grid of its tokens.

    `windows` are the height and width of what attends to itself, and `shift` by how much the grid is rolled before it is
    cut into them (Swin); None where all tokens attend to all.
    """

    name: str
    places: Places
    windows: tuple[int, int] | None = None
    shift: tuple[int, int] = (0, 0)

    def tokens(self) -> Tensor:
        """int64 [windows, tokens]: the place of each token, row by row of the grid; −1 where it has none."""
        height, width = self.places.height, self.places.width
        grid = torch.arange(height * width).view(height, width)
        if self.windows is None:
            return torch.cat([torch.full((self.places.extra,), -1), grid.flatten()])[None]
        grid = grid.roll((-self.shift[0], -self.shift[1]), (0, 1))
        down, across = (-height % self.windows[0], -width % self.windows[1])
        grid = torch.nn.functional.pad(grid, (0, across, 0, down), value=-1)
        tiles = grid.unfold(0, self.windows[0], self.windows[0]).unfold(1, self.windows[1], self.windows[1])
        return tiles.reshape(-1, self.windows[0] * self.windows[1])


def find_attention(network: nn.Module, known: FeatureLayers) -> dict[str, AttentionLayer]:
    """The layers of self-attention over places whose weights can be read, by name, in the network's order."""
    layers: dict[str, AttentionLayer] = {}
    for name, module in network.named_modules():
        if not _is_readable(module):
            continue
        above = name.rpartition(".")[0]
        block = network.get_submodule(above)
        windows, shift = _pair(block, "window_size"), _pair(block, "shift_size")
        if windows and shift and above in known.layers:
            layers[name] = AttentionLayer(name, known.layers[above].places, windows, shift)
        elif name in known.layers and known.layers[name].places.layout == "tokens":
            layers[name] = AttentionLayer(name, known.layers[name].places)
    return {name: layer for name, layer in layers.items() if layer.places.count > 1}


def _is_readable(module: nn.Module) -> bool:
    """Whether the weights pass a dropout of their own (timm, unless fused), or can be asked for (torch)."""
    ours = hasattr(module, "fused_attn") and isinstance(getattr(module, "attn_drop", None), torch.nn.Module)
    return ours or isinstance(module, torch.nn.MultiheadAttention)


def _pair(block: nn.Module, name: str) -> tuple[int, int] | None:
    value = getattr(block, name, None)
    value = (value, value) if isinstance(value, int) else value
    return (int(value[0]), int(value[1])) if isinstance(value, tuple | list) and len(value) == 2 else None


@contextmanager
def hook_attention(
    network: nn.Module, layers: Mapping[str, AttentionLayer], each: Callable[[AttentionLayer, Tensor], None]
) -> Iterator[None]:
    """Tell `each` the weights [B · windows, heads, queries, keys] of some layers, which are not fused meanwhile."""
    fused: list[nn.Module] = []
    handles: list[Any] = []

    def read(layer: AttentionLayer) -> None:
        module: Any = network.get_submodule(layer.name)
        if isinstance(module, torch.nn.MultiheadAttention):
            wish = {"need_weights": True, "average_attn_weights": False}
            handles.append(
                module.register_forward_pre_hook(lambda _, args, kwargs: (args, {**kwargs, **wish}), with_kwargs=True)
            )
            handles.append(module.register_forward_hook(lambda _, args, output: each(layer, output[1])))
            return
        if module.fused_attn:
            module.fused_attn = False
            fused.append(module)
        handles.append(module.attn_drop.register_forward_pre_hook(lambda _, args: each(layer, args[0])))

    try:
        for layer in layers.values():
            read(layer)
        yield
    finally:
        for handle in handles:
            handle.remove()
        for module in fused:
            module.fused_attn = True  # type: ignore[assignment]
