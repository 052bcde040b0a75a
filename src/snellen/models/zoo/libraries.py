"""Networks of timm and torchvision by name, untrained, for training."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from snellen.errors import unknown

if TYPE_CHECKING:
    from torch import nn


def from_timm(name: str, classes: int) -> nn.Module:
    """timm's network of that name; a weight tag behind it chooses only the settings that come with the tag."""
    import timm

    known = timm.list_models()
    if name.partition(".")[0] not in known:
        raise unknown("timm network", name, known)
    try:
        return timm.create_model(name, pretrained=False, num_classes=classes)
    except RuntimeError as error:  # raised by timm for a tag that it does not know
        raise unknown("timm network", name, timm.list_pretrained(name.partition(".")[0] + ".*")) from error


def from_torchvision(name: str, classes: int) -> nn.Module:
    """torchvision's classifier of that name, without the second heads that two of them train with."""
    from torchvision import models

    known = models.list_models(module=models)
    if name not in known:
        raise unknown("torchvision classifier", name, known)
    single: dict[str, Any] = {"aux_logits": False, "init_weights": True}  # logits are then a tensor in training too
    return models.get_model(
        name, weights=None, num_classes=classes, **single if name in ("googlenet", "inception_v3") else {}
    )


LIBRARIES: dict[str, Callable[[str, int], nn.Module]] = {"timm": from_timm, "torchvision": from_torchvision}
