"""`timm:name.tag`, or `timm:FOLDER` as timm writes it for the hub: networks, weights and preprocessing as timm has them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from snellen.data.canvas import Canvas
from snellen.errors import UserError, unknown
from snellen.files import expand_home, read_json, reading
from snellen.files.places import may_be_folder
from snellen.files.remote.remote_path import RemotePath
from snellen.models.card import LARGEST, MOST_CLASSES
from snellen.models.checkpoint import load_into
from snellen.models.device import Device
from snellen.models.model import Model, from_torch
from snellen.models.network_settings import NetworkInput
from snellen.offline import asking, hub_address

if TYPE_CHECKING:
    from torch import nn


Side = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
Level = Annotated[float, msgspec.Meta(ge=-1000, le=1000)]
Deviation = Annotated[float, msgspec.Meta(gt=0, le=1000)]


class FolderInput(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a folder of timm's says of the images; the rest is timm's default."""

    input_size: tuple[Literal[3], Side, Side] | None = None
    interpolation: Literal["bilinear", "bicubic", "nearest", "lanczos", "box", "hamming", "random"] | None = None
    crop_pct: Annotated[float, msgspec.Meta(gt=0, le=10)] | None = None
    crop_mode: Literal["center", "squash", "border"] | None = None
    mean: tuple[Level, Level, Level] | None = None
    std: tuple[Deviation, Deviation, Deviation] | None = None


class FolderConfig(msgspec.Struct):
    """What is read of the config.json that `timm.models.save_for_hf` writes."""

    architecture: Annotated[str, msgspec.Meta(max_length=200)]
    num_classes: Annotated[int, msgspec.Meta(ge=1, le=MOST_CLASSES)]
    pretrained_cfg: FolderInput = FolderInput()
    label_names: list[str] | None = None


def load_timm(name: str, argument: str | None, device: Device) -> Model:
    """The model of a full timm name with its weight tag, such as `resnet18.a1_in1k`."""
    import timm

    folder = expand_home(name)
    if may_be_folder(folder):
        return _from_folder(folder, device)
    if isinstance(folder, RemotePath):
        raise UserError(f"no folder '{name}' with config.json and model.safetensors, as timm writes them for the hub")
    architecture, _, tag = name.partition(".")
    if architecture not in timm.list_models():
        raise unknown("timm model", architecture, timm.list_models())
    if not tag:
        tags = timm.list_pretrained(architecture + ".*") or timm.list_pretrained(architecture)
        raise UserError(f"'timm:{name}' names no weights; choose one of: {', '.join(tags[:8]) or 'none exist'}")
    with asking(hub_address()) as why:
        try:
            module = timm.create_model(name, pretrained=True)
        except RuntimeError as error:
            raise UserError(f"timm has no weights '{name}': {str(error).splitlines()[0]}") from None
        except Exception:  # the hub client raises many kinds when it has not what is asked for
            raise UserError(f"the weights of 'timm:{name}' are not in the cache, which HF_HOME names: {why}") from None
    return from_timm_module(module, name, device)


def _from_folder(folder: Path, device: Device) -> Model:
    """The model of a folder that timm wrote for the hub: config.json and model.safetensors."""
    import timm

    config: FolderConfig = read_json(folder / "config.json", FolderConfig, "configuration of timm")
    if config.architecture not in timm.list_models():
        raise unknown(f"timm model in '{folder / 'config.json'}'", config.architecture, timm.list_models())
    with reading(folder / "config.json", "a configuration of timm"):
        module = timm.create_model(
            config.architecture,
            pretrained=False,
            num_classes=config.num_classes,
            pretrained_cfg_overlay=msgspec.to_builtins(config.pretrained_cfg),
        )
    module = load_into(module, folder / "model.safetensors")
    model = from_timm_module(module, folder.name, device)
    if config.label_names is None or len(config.label_names) != config.num_classes:
        return model
    return replace(model, card=replace(model.card, classes=tuple(config.label_names)))


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


def timm_preprocessing(name: str) -> NetworkInput:
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
    return NetworkInput(canvas_of(resolved), tuple(resolved["mean"]), tuple(resolved["std"]))


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
