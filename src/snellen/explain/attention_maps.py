"""Attention maps (Kassaw et al. 2024, figures 7 and 16): what the tokens of the object attend to, summed over heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.errors import UserError, unknown
from snellen.explain.attention_layers import AttentionLayer, find_attention, hook_attention
from snellen.explain.feature_grid import enlarge, finite, unit_maps
from snellen.explain.network import OpenNetwork, eval_mode, open_network
from snellen.lazy_torch import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor, nn

AttentionLayers = int | str | Sequence[int | str] | None


def attention(
    model: Model | nn.Module, images: Tensor, masks: Tensor | None = None, layers: AttentionLayers = None
) -> Tensor:
    """Maps float32 [B, H, W] in 0…1 of what a transformer's tokens attend to, each divided by its own maximum.

    `model` and `images` are as for `gradcam`. `masks` bool [B, H, W] (or 0 and 1, or 0 and 255) are the objects: the tokens
    whose patch holds a pixel of it ask, and what they attend to is summed over them and over heads; without masks all tokens
    of the image ask. An empty mask gives a map of 0. `layers`: a block from the end (−1, the default, is the last), from the
    start (0, 1, …), or by name; several are averaged (the paper shows the third, seventh and eleventh). Works for ViT, DeiT
    and Swin of timm and for networks built of torch's own attention.

    >>> from snellen.explain import attention
    >>> import timm
    >>> import torch
    >>> network = timm.create_model("test_vit", num_classes=3).eval()
    >>> images = torch.rand(2, 3, 160, 160)
    >>> attention(network, images).shape
    torch.Size([2, 160, 160])
    """
    grids = attention_grids(model, images, masks, layers)
    enlarged = [enlarge(grid, images.shape[2:]) for grid in grids.values()]
    return unit_maps(torch.stack(enlarged).mean(0))


def attention_grids(
    model: Model | nn.Module, images: Tensor, masks: Tensor | None = None, layers: AttentionLayers = None
) -> dict[str, Tensor]:
    """By layer, the attention float32 [B, h, w] that each patch receives from those that ask, summed over heads.

    Arguments are those of `attention`. Tokens that have no place in the image, such as the class token, neither ask nor count.

    >>> from snellen.explain import attention_grids
    >>> import timm
    >>> import torch
    >>> network = timm.create_model("test_vit", num_classes=3).eval()
    >>> images = torch.rand(2, 3, 160, 160)
    >>> [tuple(grid.shape) for grid in attention_grids(network, images).values()][:1]
    [(2, 10, 10)]
    """
    opened = open_network(model, images)
    pixels = opened.normalise(images)
    masks = None if masks is None else _objects(masks, (len(images), *images.shape[2:]))
    grids: dict[str, Tensor] = {}

    def note(layer: AttentionLayer, weights: Tensor) -> None:
        asking = _asking(layer, len(pixels), None if masks is None else masks.to(pixels.device), pixels)
        received = finite(_received(layer, weights.float(), asking))
        earlier = grids.get(layer.name)  # of a layer that is called more than once
        grids[layer.name] = received if earlier is None else earlier + received

    with torch.no_grad(), opened.autocast(), eval_mode(opened.network):
        every = find_attention(opened.network, opened.layers(pixels))
        wanted = _pick(every, layers, opened.name)
        for layer in wanted.values():
            _prove(opened, pixels, layer)
        with hook_attention(opened.network, wanted, note):
            opened.network(pixels)
    if not grids:
        raise UserError(f"{opened.name} did not call its attention at {', '.join(wanted)}; choose another layer")
    return {name: grids[name] for name in wanted if name in grids}


def _objects(masks: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The masks as truth values; what is no mask, or none of these images, is refused."""
    masks = torch.as_tensor(masks)
    if masks.shape != shape:
        raise ValueError(f"expected masks {list(shape)}, got {list(masks.shape)}")
    if masks.dtype != torch.bool and masks.numel():
        full = 255 if bool((masks == 255).any()) else 1
        if not bool(((masks == 0) | (masks == full)).all()):
            low, high = masks.min().item(), masks.max().item()
            raise ValueError(
                f"expected masks of truth values, 0 and 1 or 0 and 255, got others from {low:g} to {high:g}"
            )
    return masks.bool()


def attention_names(model: Model | nn.Module, images: Tensor, layers: AttentionLayers = None) -> list[str]:
    """The names of the layers that are meant; none given: of twelve the third, the seventh and the eleventh, of others those as
    deep (Kassaw et al. 2024, figure 7)."""
    opened = open_network(model, images)
    pixels = opened.normalise(images)
    with torch.no_grad(), eval_mode(opened.network):
        every = find_attention(opened.network, opened.layers(pixels))
    wanted = [-(-len(every) * place // 12) - 1 for place in (3, 7, 11)] if layers is None else layers
    return list(_pick(every, wanted, opened.name))


def _prove(opened: OpenNetwork, pixels: Tensor, layer: AttentionLayer) -> None:
    """Refuse attention whose tokens do not lie as the image does; shown by the block it is in, which keeps what it is given."""
    known = opened.layers(pixels).layers
    block = known.get(layer.name.rpartition(".")[0])
    if block is None or block.places.count != layer.places.count:
        block = known[layer.name]
    opened.prove(pixels, block)


def _asking(layer: AttentionLayer, count: int, masks: Tensor | None, like: Tensor) -> Tensor:
    """float [B, places]: 1 for those that hold a pixel of the object."""
    grid = (layer.places.height, layer.places.width)
    if masks is None:
        return torch.ones((count, layer.places.count), device=like.device)
    return torch.nn.functional.adaptive_max_pool2d(masks.float()[:, None], grid).flatten(1)


def _received(layer: AttentionLayer, weights: Tensor, asking: Tensor) -> Tensor:
    """[B, h, w]: the attention that each place gets from those that ask, of weights [B · windows, heads, tokens, tokens]."""
    tokens = layer.tokens().to(weights.device)
    count, places = asking.shape
    expected = [count * len(tokens), tokens.shape[1], tokens.shape[1]]
    if weights.ndim != 4 or [weights.shape[0], *weights.shape[2:]] != expected:
        raise UserError(
            f"the attention at '{layer.name}' has weights of {list(weights.shape)}, where {len(tokens)} windows of "
            f"{tokens.shape[1]} tokens were expected; attention maps of this network cannot be made"
        )
    tokens = torch.where(tokens < 0, places, tokens)  # a place behind the last, for tokens without any
    queries = torch.cat([asking, asking.new_zeros(count, 1)], 1)[:, tokens]
    per_window = weights.sum(1).unflatten(0, (count, len(tokens)))
    received = torch.einsum("bwq,bwqk->bwk", queries, per_window)
    grid = asking.new_zeros(count, places + 1).index_add_(1, tokens.flatten(), received.flatten(1))
    return grid[:, :places].unflatten(1, (layer.places.height, layer.places.width))


def _pick(every: dict[str, AttentionLayer], layers: AttentionLayers, model: str) -> dict[str, AttentionLayer]:
    """The layers that are meant."""
    if not every:
        raise UserError(
            f"{model} has no self-attention that can be read; attention maps need a ViT, DeiT or Swin of timm, or torch's own "
            "attention; gradcam works for any network"
        )
    names = list(every)
    wanted = [-1] if layers is None else [layers] if isinstance(layers, int | str) else list(layers)
    return {name: every[name] for name in dict.fromkeys(_name(names, choice) for choice in wanted)}


def _name(names: Sequence[str], layer: int | str) -> str:
    if isinstance(layer, int):
        if not -len(names) <= layer < len(names):
            raise UserError(f"expected a layer of attention from {-len(names)} to {len(names) - 1}, got {layer}")
        return names[layer]
    for name in names:
        if layer in (name, name.rpartition(".")[0]) or name.endswith(f".{layer}"):
            return name
    raise unknown("layer of attention", layer, names)
