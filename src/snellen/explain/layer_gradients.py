"""The gradient of answers in the features of a layer, and the name of what is wrong where there is none.

The network runs without gradients up to the layer and with them behind it, so only what lies behind it is gone through
backwards.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.errors import UserError
from snellen.explain.feature_grid import tensor_in
from snellen.explain.hooks import hook_layer
from snellen.explain.layer_trail import Layer
from snellen.explain.network import OpenNetwork, TargetClasses, class_answers, target_classes
from snellen.explain.splice import make_splice
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor, nn

# The layers of networks that gradients are known to reach, for as long as the networks live.
_REACHED: weakref.WeakKeyDictionary[nn.Module, set[str]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class LayerGradients:
    """A layer's `features`, the `gradients` of the targets' outputs in them, each float32 [B, channels, h, w], and all `answers`
    [B, classes]."""

    features: Tensor
    gradients: Tensor
    answers: Tensor


def layer_gradients(opened: OpenNetwork, pixels: Tensor, targets: TargetClasses, spot: Layer) -> LayerGradients:
    """What the images give at a layer; gradients are 0 where none comes back."""
    leaves: list[Tensor] = []

    def cut(name: str, output: Any) -> Any:
        tensor = tensor_in(output)
        if name != spot.name or tensor is None:
            return None
        torch.set_grad_enabled(True)
        leaves[:] = [tensor.detach().requires_grad_()]
        behind = leaves[0].clone()  # layers behind it may write into it
        return behind if tensor is output else type(output)((behind, *output[1:]))

    with torch.no_grad(), opened.autocast():
        with hook_layer(opened.network, cut, spot.name, opened.layers(pixels).calls):
            answers = class_answers(opened.network(pixels))
        # images do not mix, so each gets its own gradient from the sum of their targets' outputs
        score = answers.gather(1, target_classes(answers, targets)[:, None]).sum()
        gradient = torch.autograd.grad(score, leaves, allow_unused=True)[0] if score.requires_grad else None
    if gradient is None:  # nothing that the network says comes by this layer
        gradient = torch.zeros_like(leaves[0])
    features, gradients = (spot.places.features(values.detach()).float() for values in (leaves[0], gradient))
    return LayerGradients(features, gradients, answers.detach())


def check_reached(opened: OpenNetwork, pixels: Tensor, targets: TargetClasses, spot: Layer) -> None:
    """Refuse a layer that no gradient reaches; asked once per network and layer."""
    reached = _REACHED.setdefault(opened.network, set())
    if spot.name not in reached:
        refuse_dead(opened, pixels, spot, layer_gradients(opened, pixels, targets, spot))
        reached.add(spot.name)


def refuse_dead(opened: OpenNetwork, pixels: Tensor, spot: Layer, slopes: LayerGradients) -> None:
    """Raise where gradients are 0 or no numbers, with the reason; not where the images are of one colour each."""
    wrong = int(slopes.answers.isnan().any(1).sum())
    if wrong:
        raise UserError(
            f"{opened.name} answers nan for {wrong} of {len(pixels)} images; check its weights and preprocessing"
        )
    for what, values in (("features", slopes.features), ("gradients", slopes.gradients)):
        if not bool(values.isfinite().all()):
            raise UserError(f"the {what} of {opened.name} at layer '{spot.name}' are nan or inf; choose another layer")
    if bool(slopes.gradients.any()):
        return
    if _is_same(opened, pixels, slopes.answers):
        raise UserError(
            f"{opened.name} gives the same answers whatever the image shows, so nothing can be explained; are the weights of "
            "its last layer 0?"
        )
    splice = make_splice(opened, pixels, spot)
    with torch.no_grad():
        other = splice.answers(pixels, _disturbed(slopes.features))
    if torch.equal(other, slopes.answers):
        raise UserError(
            f"Grad-CAM at layer '{spot.name}' is the same everywhere in the image: the answers of {opened.name} do not depend on "
            "it; try an earlier one, such as layer=-2"
        )
    raise UserError(
        f"no gradient comes back to layer '{spot.name}' of {opened.name}, though its answers depend on it: behind it something "
        "rounds, detaches, runs without gradients or is saturated; captum:Occlusion and captum:FeatureAblation need no gradients"
    )


def refuse_dead_pixels(opened: OpenNetwork, pixels: Tensor, classes: Tensor, method: str) -> None:
    """Raise where a `method` has no maps, or maps of 0, since the network answers nan, always the same, or has no gradient."""
    with torch.enable_grad(), opened.autocast():
        leaf = pixels.detach().clone().requires_grad_()
        answers = class_answers(opened.network(leaf))
        score = answers.gather(1, classes[:, None]).sum()
        gradient = torch.autograd.grad(score, leaf, allow_unused=True)[0] if score.requires_grad else None
    if bool(answers.isnan().any()):
        reason = f"{opened.name} answers nan"
    elif _is_same(opened, pixels, answers.detach()):
        reason = f"{opened.name} gives the same answers whatever the image shows"
    elif gradient is None or not bool(gradient.any()):
        reason = (
            f"no gradient comes back through {opened.name}: it rounds, detaches, runs without gradients or is saturated"
        )
    else:
        return
    raise UserError(f"{method} has nothing to show: {reason}")


def _is_same(opened: OpenNetwork, pixels: Tensor, answers: Tensor) -> bool:
    """Whether the network answers noise as it answers the images."""
    with torch.no_grad(), opened.autocast():
        return torch.equal(class_answers(opened.network(_disturbed(pixels))), answers)


def _disturbed(values: Tensor) -> Tensor:
    """The values with noise of three times their own spread, and at least 1, the same every time."""
    noise = torch.randn(values.shape, generator=torch.Generator().manual_seed(0)).to(values)
    return values + noise * (3 * values.std()).clamp(min=1)
