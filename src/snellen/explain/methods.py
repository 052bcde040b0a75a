"""The table of attribution methods: what makes maps for `salient`, for audits that ask for maps, and for `snellen explain`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset
from snellen.errors import UserError, unknown
from snellen.explain.attention_maps import attention
from snellen.explain.captum_methods import PREFIX, captum_maps, check_captum
from snellen.explain.gradcam_maps import gradcam_of_grid
from snellen.explain.iba_maps import bottleneck_maps
from snellen.explain.network import TargetClasses, eval_mode, open_network, target_classes
from snellen.explain.reference import MOST, load_statistics
from snellen.lazy_torch import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Reference:
    """What a method must know of usual images: `estimate(model, data, layer, canvas)` from at most `most` of a dataset's,
    chosen by a hash of their ids. Maps depend on it, so it is part of their key."""

    estimate: Callable[[Model, Dataset, int | str | None, Canvas], Any]
    most: int


@dataclass(frozen=True)
class Method:
    """How maps of what matters to a model are made.

    `maps(model, images, targets, layer)` of uint8 images [B, 3, H, W] gives float maps [B, H, W] in 0…1; `targets` are class
    numbers, None for the model's own answers; `layer` is a name, a stage from the end, or None. `text` says in a line what
    it is. `version` is bumped by hand when pixels of maps change. `gradients`: it needs those of a torch network; `support`: it
    needs a model whose support is known. `masks`: `maps` also takes `masks`, the objects bool [B, H, W] or None. `reference`:
    it also takes `statistics`, what is known of usual images, or None. `passes`: about how many forward passes a map costs.
    `by_class`: its maps are of a class, not the same for all. `own_bytes`: the published rule orders pixels by bytes of these
    maps as they are, which the 16 bits that measures read, each map divided by its maximum, do not give; so both are kept.
    """

    maps: Callable[..., Tensor]
    text: str
    version: int = 1
    gradients: bool = True
    support: bool = False
    masks: bool = False
    reference: Reference | None = None
    passes: int = 1
    by_class: bool = True
    own_bytes: bool = False

    def make(
        self,
        model: Model,
        images: Tensor,
        targets: TargetClasses = None,
        layer: int | str | None = None,
        *,
        masks: Tensor | None = None,
        statistics: Any = None,
    ) -> Tensor:
        """The maps, given what the method takes of masks and statistics."""
        known: dict[str, Any] = {}
        if self.masks:
            known["masks"] = masks
        if self.reference is not None:
            known["statistics"] = statistics
        return self.maps(model, images, targets, layer, **known)


def _attention(
    model: Model, images: Tensor, targets: TargetClasses, layer: int | str | None, masks: Tensor | None = None
) -> Tensor:
    """Attention has no class: the targets do not matter."""
    return attention(model, images, masks, layer)


def support(model: Model, images: Tensor, targets: TargetClasses = None, layer: int | str | None = None) -> Tensor:
    """Maps float32 [B, H, W], 1 where the model's own answer to an image uint8 [3, H, W] rests on a pixel, else 0.

    Of the phantom world's observers; whatever the `targets`, since an observer looks at the same pixels for every class.
    """
    if model.support is None:
        raise UserError(
            f"it is not known where model '{model.name}' looks; method support is for observers of the phantom world, such "
            "as observer:texture"
        )
    if layer is not None:
        raise UserError(f"method support has no layers, got layer {layer}")
    return model.support(images)


def occluder(model: Model, images: Tensor, targets: TargetClasses = None, layer: int | str | None = None) -> Tensor:
    """Maps float32 [B, H, W] in 0…1: the chance that a compositional network gives each place to be hidden, if the image shows
    the target class."""
    from snellen.models.compositional.network import CompositionalNet

    opened = open_network(model, images)
    if not isinstance(opened.network, CompositionalNet):
        raise UserError(
            f"{opened.name} has no model of occluders; method occluder is for networks trained as 'compositional(BACKBONE)'"
        )
    if layer is not None:
        raise UserError(f"method occluder explains the layer that the network was trained on, got layer {layer}")
    with torch.no_grad(), eval_mode(opened.network):
        pixels = opened.normalise(images)
        chances = opened.network.occluders(pixels, target_classes(opened.network(pixels), targets))
    return torch.nn.functional.interpolate(chances[:, None], images.shape[2:], mode="bilinear")[:, 0]


METHODS: dict[str, Method] = {
    "gradcam": Method(
        gradcam_of_grid,
        "Grad-CAM (Selvaraju et al. 2017): features of a layer, weighted by their gradients",
        own_bytes=True,
    ),
    "support": Method(
        support,
        "the pixels that an observer of the phantom world answers by, known by its construction",
        gradients=False,
        support=True,
        by_class=False,
    ),
    "iba": Method(
        bottleneck_maps,
        "information bottleneck (Schulz et al. 2020): bits at a layer that noise must not replace",
        reference=Reference(load_statistics, MOST),
        passes=100,
    ),
    "attention": Method(
        _attention,
        "attention of transformers (Kassaw et al. 2024): what the object's tokens attend to, summed over heads",
        masks=True,
        by_class=False,
    ),
    "occluder": Method(
        occluder,
        "where a compositional network (Kortylewski et al. 2020) takes the object to be hidden",
    ),
}
CAPTUM = (f"{PREFIX}NAME", "any attribution of Captum by its class, such as captum:IntegratedGradients (an extra)")


def method_of(name: str) -> Method:
    """The method of a name, or of `captum:` and a class of Captum's."""
    if name.startswith(PREFIX):
        return _captum(name)
    if name not in METHODS:
        raise unknown("method of maps", name, [*METHODS, CAPTUM[0]])
    return METHODS[name]


def methods_of(names: str | Sequence[str]) -> dict[str, Method]:
    """By name, the methods of a text such as `gradcam,iba`, or of names."""
    listed = names.split(",") if isinstance(names, str) else names
    methods = {name: method_of(name) for name in (text.strip() for text in listed)}
    if not methods:
        raise UserError("no method of maps given; see `snellen list methods`")
    return methods


@functools.cache
def _captum(name: str) -> Method:
    kind = name.removeprefix(PREFIX)
    check_captum(kind)
    return Method(functools.partial(captum_maps, kind), f"{kind} of Captum")
