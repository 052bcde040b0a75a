"""`torchvision:name@WEIGHTS`: networks, weights and preprocessing as torchvision has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from snellen.data.canvas import Canvas
from snellen.errors import UserError, unknown
from snellen.lazy_torch import torch
from snellen.models.device import Device
from snellen.models.model import Model, from_torch
from snellen.models.network_settings import Preprocessing
from snellen.models.offline import is_offline


def load_torchvision(name: str, weights: str | None, device: Device) -> Model:
    """The model of a torchvision name with its weights, such as `resnet50@IMAGENET1K_V2`."""
    from torchvision import models

    entry = _entry(name, weights)
    _check_downloaded(f"torchvision:{name}@{weights}", entry.url)
    try:
        module = models.get_model(name, weights=entry)
    except OSError as error:
        raise UserError(f"the weights of 'torchvision:{name}' could not be downloaded ({error}); are you offline? "
                        "set TORCH_HOME to a cache that holds them") from None  # fmt: skip
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


def torchvision_preprocessing(text: str) -> Preprocessing:
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


def _preprocessing(entry: Any) -> Preprocessing:
    preset = entry.transforms()
    crop, scale = preset.crop_size[0], preset.resize_size[0]
    canvas = Canvas(crop, crop, "crop", scale, preset.interpolation.value)
    return Preprocessing(canvas, tuple(preset.mean), tuple(preset.std))


def _classes(categories: list[str]) -> list[str]:
    """torchvision's category names, with WordNet ids for the 1,000 of ImageNet (two of its names occur twice)."""
    if len(categories) != 1000:
        return categories
    from timm.data import ImageNetInfo

    info = ImageNetInfo("imagenet-1k")
    return [f"{info.index_to_description(i)}, {info.index_to_label_name(i)}" for i in range(1000)]


def _check_downloaded(text: str, url: str) -> None:
    """Refuse weights that are not here while nothing may be downloaded; torchvision itself knows no such setting."""
    file = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
    if is_offline() and not file.exists():
        raise UserError(f"the weights of '{text}' are not downloaded ('{file}' is missing); run once without --offline")
