"""Networks of timm, torchvision and transformers, untrained, for training: any by name, and a transformer for small images."""

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


def from_hf(name: str, classes: int) -> nn.Module:
    """The classifier of transformers whose configuration is that of a repository, `owner/name@revision`, or of a folder."""
    from snellen.models.adapters.hf import untrained_hf

    place, at, revision = name.partition("@")
    return untrained_hf(place, revision if at else None, classes)


def small_vit(patch: int, classes: int) -> nn.Module:
    """timm's vision transformer in the size of Lee et al. (2021, small-size datasets), on patches of `patch` × `patch` pixels
    with a class token; (32 / patch)² + 1 tokens at 32 px.

    Nine blocks of 192 channels with twelve heads and an MLP of twice the width. Images of another size than 32 px are
    understood too: position embeddings are then resampled, and edges padded to whole patches.
    """
    from timm.models.vision_transformer import VisionTransformer

    return VisionTransformer(
        img_size=32,
        patch_size=patch,
        num_classes=classes,
        embed_dim=192,
        depth=9,
        num_heads=12,
        mlp_ratio=2,
        dynamic_img_size=True,
        dynamic_img_pad=True,
    )


LIBRARIES: dict[str, Callable[[str, int], nn.Module]] = {
    "timm": from_timm,
    "torchvision": from_torchvision,
    "hf": from_hf,
}
