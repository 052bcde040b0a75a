"""Grad-CAM (Selvaraju et al. 2017): where in the image the features lie that speak for a class.

The network runs without gradients up to the layer and with them behind it, so only what lies behind it is gone through
backwards: at the last stage a map costs little more than an answer.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from snellen.errors import UserError
from snellen.explain.feature_grid import tensor_in
from snellen.explain.hooks import hook_calls, hook_modules
from snellen.explain.layers import OTHERS, FeatureLayers, Layer, find_layers
from snellen.lazy_torch import torch
from snellen.models.model import Model, normaliser

if TYPE_CHECKING:
    from torch import Tensor, nn

Targets: TypeAlias = "Tensor | Sequence[int] | None"
Autocast = Callable[[], AbstractContextManager[Any]]

# What is known of networks, for as long as they live: their layers by the shape of the image, and those whose maps vary.
_LAYERS: weakref.WeakKeyDictionary[nn.Module, dict[tuple[int, ...], FeatureLayers]] = weakref.WeakKeyDictionary()
_VARYING: weakref.WeakKeyDictionary[nn.Module, set[str]] = weakref.WeakKeyDictionary()


def gradcam(
    model: Model | nn.Module,
    images: Tensor,
    targets: Targets = None,
    layer: int | str | None = None,
) -> Tensor:
    """Maps float32 [B, H, W] in 0…1, each divided by its own maximum; all 0 where nothing speaks for the class.

    `model`: ours, which takes uint8 images [B, 3, H, W] and normalises them itself, or a bare torch network, which gets
    the float images as they are. `targets` are class numbers, by default the predicted ones. `layer`: a name in the
    network, a stage counted from the end (−1, the default, is the last; −2 the one before) or `stage3` (the third).
    The weight of a channel is the mean of its gradient over the places; a map is the channel mean of weighted features,
    without what is negative, divided by its maximum, enlarged bilinearly. (The channel sum gives the same map.)
    """
    network, normalise, autocast = _open(model)
    if images.ndim != 4 or not len(images):
        raise ValueError(f"expected images [B, 3, H, W], at least one, got {list(images.shape)}")
    pixels = normalise(images)
    with _eval_mode(network):
        name = f"model '{model.name}'" if isinstance(model, Model) else "the model"
        spot = find_layer(network, pixels[:1], layer, autocast, name)
        features, gradients = _features_and_gradients(network, pixels, targets, spot, autocast)
    coarse = (gradients.mean((2, 3), keepdim=True) * features).mean(1)
    trusted = _VARYING.setdefault(network, set())
    if spot.name not in trusted and _varies(coarse, features, spot):  # once: looking at values waits for the device
        trusted.add(spot.name)
    coarse = coarse.clamp(min=0)
    top = coarse.amax((1, 2), keepdim=True)
    coarse = torch.where(top > 0, coarse / top, torch.zeros_like(coarse))
    return _enlarge(coarse, pixels.shape[2:]).clamp(0, 1)


def find_layer(
    network: nn.Module,
    pixels: Tensor,
    layer: int | str | None,
    autocast: Autocast | None = None,
    model: str = "the model",
) -> Layer:
    """The layer that is meant, found by showing the network one image [1, 3, H, W] the first time."""
    by_shape = _LAYERS.setdefault(network, {})
    shape = tuple(pixels.shape)
    if shape not in by_shape:
        with autocast() if autocast else nullcontext():
            by_shape[shape] = find_layers(network, pixels)
    return by_shape[shape].pick(layer, model)


def _open(model: Model | nn.Module) -> tuple[nn.Module, Callable[[Tensor], Tensor], Autocast]:
    """The torch network, what makes its input of the images, and the autocast it runs under."""
    if isinstance(model, Model):
        if model.module is None or model.device is None:
            raise UserError(f"model '{model.name}' is not a torch network, so it has no gradients; {OTHERS}")
        half = model.precision == "bf16"
        return (
            model.module,
            normaliser(model.card, model.device),
            lambda: torch.autocast("cuda", torch.bfloat16, enabled=half),
        )
    if not isinstance(model, torch.nn.Module):
        raise UserError(f"expected a model of snellen or a torch network, got {type(model).__name__}; {OTHERS}")
    return model, _floats, nullcontext


def _floats(images: Tensor) -> Tensor:
    if not images.is_floating_point():
        raise ValueError(
            "expected float images as the bare network takes them, got bytes; wrap it: models.from_torch(…)"
        )
    return images


@contextmanager
def _eval_mode(network: nn.Module) -> Iterator[None]:
    """The network as it answers, not as it learns."""
    training = [part for part in network.modules() if part.training]
    if training:
        network.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def _features_and_gradients(
    network: nn.Module, pixels: Tensor, targets: Targets, spot: Layer, autocast: Autocast
) -> tuple[Tensor, Tensor]:
    """The layer's features and the gradient of the targets' outputs in them, each [B, channels, h, w] in fp32."""
    leaves: list[Tensor] = []

    def cut(name: str, output: Any) -> Any:
        tensor = tensor_in(output)
        if name != spot.name or tensor is None:
            return None
        torch.set_grad_enabled(True)
        leaves[:] = [tensor.detach().requires_grad_()]
        behind = leaves[0].clone()  # layers behind it may write into it
        return behind if tensor is output else type(output)((behind, *output[1:]))

    calls = _LAYERS[network][1, *pixels.shape[1:]].calls
    hooks = hook_calls(cut) if calls else hook_modules(network, cut, lambda name, _: name == spot.name)
    with torch.no_grad(), autocast():
        with hooks:
            answers = network(pixels)
        score = _score(getattr(answers, "logits", answers), targets)
        gradient = torch.autograd.grad(score, leaves, allow_unused=True)[0] if score.requires_grad else None
    if gradient is None:  # nothing that the network says comes by this layer
        gradient = torch.zeros_like(leaves[0])
    features, slopes = (spot.places.features(one.detach()).float() for one in (leaves[0], gradient))
    return features, slopes


def _enlarge(coarse: Tensor, size: Sequence[int]) -> Tensor:
    """Maps [B, h, w] enlarged bilinearly to [B, H, W].

    The batch lies where channels lie, last in memory: torch's kernel for one channel walks through the batch in a loop.
    """
    channels = coarse.permute(1, 2, 0)[None].contiguous().permute(0, 3, 1, 2)
    return torch.nn.functional.interpolate(channels, tuple(size), mode="bilinear")[0].contiguous()


def _score(answers: Tensor, targets: Targets) -> Tensor:
    """The sum of each image's target output; images do not mix, so each gets its own gradient."""
    if not isinstance(answers, torch.Tensor) or answers.ndim != 2:
        got = list(answers.shape) if isinstance(answers, torch.Tensor) else type(answers).__name__
        raise UserError(f"expected a classifier's answers [B, classes], got {got}; {OTHERS}")
    if targets is None:
        return answers.gather(1, answers.argmax(1, keepdim=True)).sum()
    wanted = torch.as_tensor(targets, device=answers.device).long().reshape(-1, 1)
    if len(wanted) != len(answers):
        raise ValueError(f"expected one target per image ({len(answers)}), got {len(wanted)}")
    if not ((wanted >= 0) & (wanted < answers.shape[1])).all():
        raise ValueError(f"expected targets in 0…{answers.shape[1] - 1}, got {wanted.min()} to {wanted.max()}")
    return answers.gather(1, wanted).sum()


def _varies(coarse: Tensor, features: Tensor, spot: Layer) -> bool:
    """Whether any map differs from place to place.

    A layer is refused where none does although its features do: behind it, places no longer matter. Of images of one
    colour nothing can be told.
    """
    flat = coarse.flatten(1)
    if (flat.amax(1) > flat.amin(1)).any():
        return True
    places = features.flatten(2)
    if coarse[0].numel() == 1 or (places.amax(2) > places.amin(2)).any():
        raise UserError(
            f"Grad-CAM at layer '{spot.name}' is the same everywhere in the image; try an earlier one, such as layer=-2"
        )
    return False
