"""`torchvision:name@WEIGHTS`: networks, weights and preprocessing as torchvision has them."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

from snellen.data.canvas import Canvas
from snellen.errors import UserError, unknown
from snellen.files.net import reason_of
from snellen.lazy_torch import torch
from snellen.models.device import Device
from snellen.models.model import Model, from_torch
from snellen.models.network_settings import NetworkInput
from snellen.offline import asking, is_offline


def load_torchvision(name: str, weights: str | None, device: Device) -> Model:
    """The model of a torchvision name with its weights, such as `resnet50@IMAGENET1K_V2`."""
    from torchvision import models

    entry = _entry(name, weights)
    file = Path(torch.hub.get_dir()) / "checkpoints" / entry.url.rpartition("/")[2]
    with nullcontext("") if file.exists() else asking(entry.url) as why:
        missing = (
            f"the weights of 'torchvision:{name}@{weights}' are not downloaded ('{file}', set by TORCH_HOME): {why}"
        )
        if is_offline() and not file.exists():  # torchvision itself knows no such setting
            raise UserError(missing)
        try:
            module = models.get_model(name, weights=entry)
        except OSError as error:
            raise UserError(f"{missing} ({reason_of(error)})") from None
    stated = _preprocessing(entry)
    return from_torch(
        module,
        classes=_classes(entry.meta["categories"]),
        canvas=stated.canvas,
        mean=stated.mean,
        std=stated.std,
        name=f"{name}@{weights}",
        device=device,
    )


def torchvision_preprocessing(text: str) -> NetworkInput:
    """The preprocessing that torchvision states for a network's weights, `resnet50@IMAGENET1K_V2`; nothing is downloaded."""
    name, _, weights = text.partition("@")
    return _preprocessing(_entry(name, weights))


def _entry(name: str, weights: str | None) -> Any:
    """The weights of a network as torchvision lists them."""
    from torchvision import models

    if name not in models.list_models(module=models):
        raise unknown("torchvision classifier", name, models.list_models(module=models))
    choices = models.get_model_weights(name)
    if not weights:
        raise UserError(f"'torchvision:{name}' names no weights; write torchvision:{name}@{choices.DEFAULT.name}")
    if weights not in choices.__members__:
        raise unknown(f"weights of {name}", weights, choices.__members__)
    return choices[weights]


def _preprocessing(entry: Any) -> NetworkInput:
    preset = entry.transforms()
    crop, scale = preset.crop_size[0], preset.resize_size[0]
    canvas = Canvas(crop, crop, "crop", scale, preset.interpolation.value)
    return NetworkInput(canvas, tuple(preset.mean), tuple(preset.std))


def _classes(categories: list[str]) -> list[str]:
    """torchvision's category names, with WordNet ids for the 1,000 of ImageNet (two of its names occur twice)."""
    if len(categories) != 1000:
        return categories
    from timm.data import ImageNetInfo

    info = ImageNetInfo("imagenet-1k")
    return [f"{info.index_to_description(i)}, {info.index_to_label_name(i)}" for i in range(1000)]
