"""`timm:name.tag`: networks, weights and preprocessing as timm has them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from snellen.data.canvas import Canvas
from snellen.errors import UserError, unknown
from snellen.models.device import Device
from snellen.models.model import Model, from_torch
from snellen.models.network_settings import Preprocessing

if TYPE_CHECKING:
    from torch import nn


def load_timm(name: str, argument: str | None, device: Device) -> Model:
    """The model of a full timm name with its weight tag, such as `resnet18.a1_in1k`."""
    import timm

    architecture, _, tag = name.partition(".")
    if architecture not in timm.list_models():
        raise unknown("timm model", architecture, timm.list_models())
    if not tag:
        tags = timm.list_pretrained(architecture + ".*") or timm.list_pretrained(architecture)
        raise UserError(f"'timm:{name}' names no weights; choose one of: {', '.join(tags[:8]) or 'none exist'}")
    try:
        module = timm.create_model(name, pretrained=True)
    except RuntimeError as error:
        raise UserError(f"timm has no weights '{name}': {str(error).splitlines()[0]}") from None
    except Exception as error:  # the hub client raises many kinds when it cannot reach its host
        raise UserError(f"the weights of 'timm:{name}' could not be downloaded ({type(error).__name__}); are you offline? "
                        "set HF_HOME to a cache that holds them") from None  # fmt: skip
    return from_timm_module(module, name, device)


def from_timm_module(module: nn.Module, name: str, device: Device = None) -> Model:
    """A model of any module with a timm `pretrained_cfg`, preprocessed by it."""
    from timm.data import resolve_model_data_config

    config = resolve_model_data_config(module)
    return from_torch(
        module,
        classes=_classes(module),
        canvas=canvas_of(config),
        mean=config["mean"],
        std=config["std"],
        name=name,
        device=device,
    )


def timm_preprocessing(name: str) -> Preprocessing:
    """The preprocessing that timm states for a name, with its weight tag or that of its first weights; nothing is downloaded."""
    import timm
    from timm.data import resolve_data_config
    from timm.models import get_pretrained_cfg

    architecture, _, tag = name.partition(".")
    if architecture not in timm.list_models():
        raise unknown("timm model", architecture, timm.list_models())
    try:
        config = get_pretrained_cfg(name)
    except RuntimeError:
        config = None
    if config is None:
        tags = [known.partition(".")[2] for known in timm.list_pretrained(architecture + ".*")]
        raise unknown(f"weights of {architecture}", tag, tags)
    resolved = resolve_data_config(pretrained_cfg=config.to_dict())
    return Preprocessing(canvas_of(resolved), tuple(resolved["mean"]), tuple(resolved["std"]))


def canvas_of(config: dict[str, Any]) -> Canvas:
    """The canvas of a timm data config: input size, crop share and mode, interpolation."""
    _, height, width = config["input_size"]
    fit = {"center": "crop", "squash": "squash", "border": "pad"}.get(config.get("crop_mode") or "center", "crop")
    scale = math.floor(max(height, width) / config["crop_pct"]) if fit != "pad" else 0
    interpolation = config["interpolation"] if config["interpolation"] != "random" else "bicubic"
    return Canvas(height, width, fit, scale, interpolation)  # type: ignore[arg-type]


def _classes(module: nn.Module) -> list[str] | None:
    """Class names with their synonyms and WordNet ids, where timm knows them."""
    from timm.data import ImageNetInfo, infer_imagenet_subset

    config = getattr(module, "pretrained_cfg", None) or {}
    outputs = int(getattr(module, "num_classes", 0))
    names = config.get("label_names")
    if names and len(names) == outputs:
        return [str(name) for name in names]
    subset = infer_imagenet_subset(module)
    if not subset:
        return None
    info = ImageNetInfo(subset)
    return [f"{info.index_to_description(i)}, {info.index_to_label_name(i)}" for i in range(outputs)]
