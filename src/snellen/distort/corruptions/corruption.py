"""The common corruptions of Hendrycks & Dietterich 2019, as one distortion: which, how severe, by which constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from snellen.distort.corruptions.blurs import defocus_blur, gaussian_blur, glass_blur, motion_blur
from snellen.distort.corruptions.constants import CONSTANTS, SEVERITIES, Constants, CorruptionKind
from snellen.distort.corruptions.digital import (
    brightness,
    contrast,
    elastic_small,
    elastic_transform,
    jpeg_compression,
    pixelate,
    saturate,
)
from snellen.distort.corruptions.frost import frost, frost_small
from snellen.distort.corruptions.noises import gaussian_noise, impulse_noise, shot_noise, speckle_noise
from snellen.distort.corruptions.weather import fog, snow, spatter
from snellen.distort.corruptions.zooming import zoom_blur
from snellen.distort.distortion import Distortion
from snellen.distort.view import View

if TYPE_CHECKING:
    from torch import Tensor

Corrupt = Callable[["Tensor", View, Any], "Tensor"]

CORRUPTIONS: Mapping[CorruptionKind, Corrupt] = {
    "gaussian_noise": gaussian_noise,
    "shot_noise": shot_noise,
    "impulse_noise": impulse_noise,
    "defocus_blur": defocus_blur,
    "glass_blur": glass_blur,
    "motion_blur": motion_blur,
    "zoom_blur": zoom_blur,
    "snow": snow,
    "frost": frost,
    "fog": fog,
    "brightness": brightness,
    "contrast": contrast,
    "elastic_transform": elastic_transform,
    "pixelate": pixelate,
    "jpeg_compression": jpeg_compression,
    "speckle_noise": speckle_noise,
    "gaussian_blur": gaussian_blur,
    "spatter": spatter,
    "saturate": saturate,
}
_SMALL: Mapping[CorruptionKind, Corrupt] = {"elastic_transform": elastic_small, "frost": frost_small}
_FIXED = frozenset(
    {"defocus_blur", "zoom_blur", "brightness", "contrast", "pixelate", "jpeg_compression", "gaussian_blur", "saturate"}
)
_FLOATING = frozenset({"zoom_blur", "snow", "frost", "fog", "spatter", "saturate"})


@dataclass(frozen=True)
class Corruption(Distortion):
    """A common corruption (Hendrycks & Dietterich 2019) of a `severity` from 1 to 5: what a noisy sensor, a moving or badly
    focused camera, weather or compression does to an image.

    `constants` are those published for images of 224 px (`imagenet`, ImageNet-C) or of 32 px (`cifar`, CIFAR-10-C); images of
    any size are taken. Frost is a generated texture, not the published photographs.
    """

    kind: CorruptionKind = "gaussian_noise"
    severity: int = 1
    constants: Constants = "imagenet"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not 1 <= self.severity <= SEVERITIES:
            raise ValueError(f"expected a severity from 1 to {SEVERITIES}, got {self.severity}")

    def __call__(self, images: Tensor, view: View) -> Tensor:
        if not images.numel():
            return images
        small = _SMALL.get(self.kind) if self.constants == "cifar" else None
        corrupt = small or CORRUPTIONS[self.kind]
        return corrupt(images.contiguous(), view, CONSTANTS[self.constants][self.kind][self.severity - 1])

    @property
    def draws(self) -> bool:
        return self.kind not in _FIXED

    @property
    def floating(self) -> bool:
        return self.kind in _FLOATING

    @property
    def packages(self) -> Mapping[str, str]:
        return {"cv2": "spatter"} if self.kind == "spatter" else {}

    def words(self) -> str:
        small = " (constants for 32 px)" if self.constants == "cifar" else ""
        return f"{in_words(self.kind)}, severity {self.severity}{small}"


def in_words(kind: str) -> str:
    """The name of a corruption as a report says it."""
    return "JPEG compression" if kind == "jpeg_compression" else kind.replace("_", " ").replace("gaussian", "Gaussian")
