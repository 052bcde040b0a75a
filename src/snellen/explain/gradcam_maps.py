"""Grad-CAM (Selvaraju et al. 2017): where in the image the features lie that speak for a class.

The network runs without gradients up to the layer and with them behind it, so only what lies behind it is gone through
backwards: at the last stage a map costs little more than an answer.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from snellen.errors import UserError
from snellen.explain.feature_grid import enlarge, peaked_maps, unit_maps
from snellen.explain.layer_gradients import LayerGradients, layer_gradients, refuse_dead
from snellen.explain.layer_trail import Layer
from snellen.explain.network import OpenNetwork, TargetClasses, eval_mode, open_network
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor, nn

# The layers of networks whose maps are known to vary, for as long as the networks live.
_VARYING: weakref.WeakKeyDictionary[nn.Module, set[str]] = weakref.WeakKeyDictionary()


def gradcam(
    model: Model | nn.Module,
    images: Tensor,
    targets: TargetClasses = None,
    layer: int | str | None = None,
) -> Tensor:
    """Maps float32 [B, H, W] in 0…1, each divided by its own maximum, so its peak is 1; all 0 where nothing speaks for the
    class.

    `model`: ours, which takes uint8 images [B, 3, H, W] and normalises them itself, or a bare torch network, which gets
    the float images as they are. `targets` are class numbers, by default the predicted ones. `layer`: a name in the
    network, a stage counted from the end (−1, the default, is the last; −2 the one before) or `stage3` (the third).
    The weight of a channel is the mean of its gradient over the places; a map is the channel mean of weighted features,
    without what is negative, enlarged bilinearly, then divided by its maximum. (The channel sum gives the same map.)

    >>> from snellen.explain import gradcam
    >>> import timm
    >>> import torch
    >>> network = timm.create_model("resnet10t", num_classes=3).eval()
    >>> images = torch.rand(2, 3, 64, 64)
    >>> gradcam(network, images).shape
    torch.Size([2, 64, 64])
    """
    return peaked_maps(gradcam_of_grid(model, images, targets, layer))


def gradcam_of_grid(
    model: Model | nn.Module,
    images: Tensor,
    targets: TargetClasses = None,
    layer: int | str | None = None,
) -> Tensor:
    """The same maps divided by the maximum on the layer's grid, before they are enlarged, as the published code of iOcclusion
    does (Marcu & Prügel-Bennett 2022): the peak of an enlarged map may lie below 1."""
    opened = open_network(model, images)
    network, pixels = opened.network, opened.normalise(images)
    with eval_mode(network):
        spot = opened.pick(pixels, layer)
        slopes = layer_gradients(opened, pixels, targets, spot)
        coarse = (slopes.gradients.mean((2, 3), keepdim=True) * slopes.features).mean(1)
        trusted = _VARYING.setdefault(network, set())
        if spot.name not in trusted and _varies(
            coarse, slopes, opened, pixels, spot
        ):  # once: looking waits for the device
            trusted.add(spot.name)
    return enlarge(unit_maps(coarse), pixels.shape[2:]).clamp(0, 1)


def _varies(coarse: Tensor, slopes: LayerGradients, opened: OpenNetwork, pixels: Tensor, spot: Layer) -> bool:
    """Whether any map differs from place to place.

    A layer is refused where none does although its features do: no gradient reaches it, or places no longer matter behind
    it. Of images of one colour nothing can be told.
    """
    flat = coarse.flatten(1)
    if (flat.amax(1) > flat.amin(1)).any():
        return True
    places = slopes.features.flatten(2)
    if coarse[0].numel() == 1 or not bool(coarse.isfinite().all()) or (places.amax(2) > places.amin(2)).any():
        refuse_dead(opened, pixels, spot, slopes)
        raise UserError(
            f"Grad-CAM at layer '{spot.name}' is the same everywhere in the image; try an earlier one, such as layer=-2"
        )
    return False
