"""How the images of a network are made, where its file does not say: the settings behind the `#` of its text.

zoo:timm:resnet18@ft.safetensors#like=resnet18.a1_in1k&classes=names.txt
zoo:timm:resnet18@ft.pt#size=224&resize=256&mean=0.485,0.456,0.406&std=0.229,0.224,0.225
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, get_args

from snellen.data.canvas import Canvas, Fit, Interpolation
from snellen.data.names import different, read_names
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.places import exists
from snellen.models.card import LARGEST, MOST_CLASSES
from snellen.models.text_settings import (
    Readers,
    channels_setting,
    choice_setting,
    read_settings,
    size_setting,
    whole_setting,
)

Channels = tuple[float, float, float]


@dataclass(frozen=True)
class NetworkInput:
    """A canvas and the normalisation of pixels in 0…1; None where nothing is known."""

    canvas: Canvas | None = None
    mean: Channels | None = None
    std: Channels | None = None


@dataclass(frozen=True)
class NetworkSettings:
    """What a text says of a network: `size` (height, width) of its images in pixels, `resize` the side that they are scaled to
    before the centre is taken, `fit` and `interpolation` of this, `mean` and `std` of pixels in 0…1, `classes` in the order of
    its outputs, and `like`, a network of timm or torchvision that is preprocessed alike."""

    size: tuple[int, int] | None = None
    resize: int | None = None
    fit: Fit | None = None
    interpolation: Interpolation | None = None
    mean: Channels | None = None
    std: Channels | None = None
    classes: tuple[str, ...] | None = None
    like: str | None = None

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) is not None for field in fields(self))

    def complete(self, stated: NetworkInput) -> NetworkInput:
        """The preprocessing to use: what the settings say, else that of `like`, else what the file itself states."""
        base = preprocessing_like(self.like) if self.like else stated
        return NetworkInput(self._canvas(base.canvas), self.mean or base.mean, self.std or base.std)

    def _canvas(self, base: Canvas | None) -> Canvas | None:
        """The canvas of the settings, where they say nothing as in `base`."""
        if self.size is None and base is None:
            return None
        fit = self.fit or (base.fit if base else "crop")
        if self.size is None and base is not None:
            size, scale = (base.height, base.width), base.scale
        else:
            assert self.size is not None
            size, scale = self.size, _scale_to(self.size, base)
        interpolation = self.interpolation or (base.interpolation if base else "bicubic")
        return Canvas(size[0], size[1], fit, 0 if fit == "pad" else self.resize or scale, interpolation)


def _scale_to(size: tuple[int, int], base: Canvas | None) -> int:
    """The side that photos are scaled to for another size: the share that is cropped stays that of the base."""
    if base is None or not base.scale:
        return min(size)
    return round(min(size) * base.scale / min(base.height, base.width))


def read_network_settings(query: str, text: str) -> NetworkSettings:
    """The settings behind the `#` of a network's text; what cannot be used is refused in one line."""
    values: dict[str, Any] = read_settings(query, SETTINGS, text)
    if ("mean" in values) != ("std" in values):
        first, second = ("mean", "std") if "mean" in values else ("std", "mean")
        raise UserError(f"'{text}' sets {first} without {second}; give both, such as #mean=0.5&std=0.5")
    if "size" not in values and "like" not in values:
        for name in values.keys() & {"resize", "fit", "interpolation"}:
            raise UserError(f"'{text}' sets {name} without a size; add #size=224, or #like= a network that states one")
    if values.get("fit") == "pad" and "resize" in values:
        raise UserError(f"'{text}' sets resize, which fit=pad does not use; leave it out")
    settings = NetworkSettings(**values)
    if settings.size and settings.resize and settings.resize < min(settings.size):
        raise UserError(
            f"'{text}' scales photos to {settings.resize} pixels, less than its size; expected resize of size or more"
        )
    return settings


def preprocessing_like(name: str) -> NetworkInput:
    """The preprocessing of a network of timm (`resnet18.a1_in1k`) or torchvision (`torchvision:resnet50@IMAGENET1K_V2`), as these
    packages state it; nothing is downloaded."""
    from snellen.models.adapters.timm import timm_preprocessing
    from snellen.models.adapters.torchvision import torchvision_preprocessing

    if name.startswith("torchvision:"):
        return torchvision_preprocessing(name.removeprefix("torchvision:"))
    return timm_preprocessing(name.removeprefix("timm:"))


def check_count(classes: tuple[str, ...] | None, outputs: int, file: object) -> None:
    """Refuse class names of another number than a network has outputs."""
    if classes is not None and len(classes) != outputs:
        raise UserError(
            f"'{file}' has {outputs:,} outputs, but {len(classes):,} classes are named; give one name for each"
        )


def _classes(value: str) -> tuple[str, ...]:
    """Names of classes, with commas between, or in a text file with one per line."""
    if exists(file := expand_home(value)):
        return read_names(file)
    if "," not in value:
        raise ValueError("as a file with one name per line, or as names with commas between")
    names = different([name.strip() for name in value.split(",")], f"classes={value}", "name")
    if "" in names or len(names) > MOST_CLASSES:
        raise ValueError(f"as 2 to {MOST_CLASSES:,} names, none of them empty")
    return names


def _name(value: str) -> str:
    if not value:
        raise ValueError("as the name of a network, such as resnet18.a1_in1k")
    return value


SETTINGS: Readers = {
    "size": size_setting,
    "resize": whole_setting(1, LARGEST),
    "fit": choice_setting("crop", "squash", "pad"),
    "interpolation": choice_setting(*get_args(Interpolation)),
    "mean": channels_setting(-1000, 1000),
    "std": channels_setting(1e-6, 1000),
    "classes": _classes,
    "like": _name,
}
