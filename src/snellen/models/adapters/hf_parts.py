"""A network of transformers and its image processor, as a torch module that gives logits, a canvas and a normalisation."""

from __future__ import annotations

import math
from typing import Annotated, Any

import msgspec
from torch import Tensor, nn

from snellen.data.canvas import Canvas, Fit, Interpolation
from snellen.errors import UserError
from snellen.files import fit
from snellen.models.card import LARGEST

FILTERS: tuple[Interpolation, ...] = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")  # Pillow's numbers
WARPED = 384  # shorter sides from which the processor of ConvNeXt squashes instead of cropping

Side = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
Value = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Scale = Annotated[float, msgspec.Meta(ge=1e-6, le=1e6)]


class ProcessorSettings(msgspec.Struct):
    """The settings of an image processor that decide which numbers a network gets."""

    do_resize: bool = False
    size: dict[str, Side | None] | None = None
    resample: Annotated[int, msgspec.Meta(ge=0, le=5)] | None = 2
    crop_pct: Annotated[float, msgspec.Meta(ge=0.01, le=1)] | None = None
    do_center_crop: bool | None = False
    crop_size: dict[str, Side | None] | None = None
    do_rescale: bool | None = False
    rescale_factor: Scale | None = 1 / 255
    do_normalize: bool | None = False
    image_mean: tuple[Value, Value, Value] | None = None
    image_std: tuple[Scale, Scale, Scale] | None = None


def rule_of(processor: Any, place: str) -> ProcessorSettings:
    """The rule of an image processor; what does not fit is named."""
    facts = {name: getattr(processor, name) for name in ProcessorSettings.__struct_fields__ if hasattr(processor, name)}
    for name in ("size", "crop_size"):
        if facts.get(name) is not None:
            facts[name] = dict(facts[name])
    rule: ProcessorSettings = fit(facts, ProcessorSettings, f"the image processor of 'hf:{place}'")
    if rule.do_normalize and (rule.image_mean is None or rule.image_std is None):
        raise UserError(f"the image processor of 'hf:{place}' normalises, but has no image_mean or image_std")
    return rule


def canvas_of(rule: ProcessorSettings, place: str) -> Canvas | None:
    """The canvas of a rule; None where images are taken as they are."""
    if not rule.do_resize:
        return None
    size, crop = rule.size or {}, (rule.crop_size or {}) if rule.do_center_crop else {}
    filter = FILTERS[2 if rule.resample is None else rule.resample]
    shortest, height, width = (size.get(name) for name in ("shortest_edge", "height", "width"))
    inner = crop.get("height"), crop.get("width")
    if shortest and rule.crop_pct:  # the processor of ConvNeXt, which ResNet has too
        scaled: tuple[Fit, int] = ("crop", int(shortest / rule.crop_pct)) if shortest < WARPED else ("squash", shortest)
        return Canvas(shortest, shortest, *scaled, filter)
    if shortest and inner[0] and inner[1]:
        return Canvas(inner[0], inner[1], "crop", shortest, filter)
    if height and width and inner in ((None, None), (height, width)):
        return Canvas(height, width, "squash", max(height, width), filter)
    if height and height == width and inner[0] and inner[0] == inner[1]:
        return Canvas(inner[0], inner[0], "squash", height, filter)
    raise UserError(
        f"'hf:{place}' scales images by the rule {size}, which gives each its own size; load it by python:file.py:factory "
        "with a size of your choice"
    )


def statistics_of(rule: ProcessorSettings) -> tuple[list[float] | None, list[float] | None]:
    """Mean and standard deviation of pixels in 0…1; None where the network gets just those."""
    scale = 255 * (rule.rescale_factor or 1 / 255) if rule.do_rescale else 255.0
    if rule.do_normalize and rule.image_mean and rule.image_std:
        return [value / scale for value in rule.image_mean], [value / scale for value in rule.image_std]
    return (None, None) if math.isclose(scale, 1) else ([0.0] * 3, [1 / scale] * 3)


class Logits(nn.Module):
    """Gives the logits of a network whose answers have several named parts."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> Tensor:
        logits: Tensor = self.network(pixel_values=pixels).logits
        return logits
