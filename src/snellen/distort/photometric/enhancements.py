"""Colourfulness and sharpness: towards and away from the grey or the smoothed image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.distort.photometric.pairs import blend_images
from snellen.distort.photometric.stage import Enhancement, Photometric
from snellen.distort.photometric.tones import Tones
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_KERNEL = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], np.float32) / 13  # Pillow's SMOOTH


@dataclass(frozen=True)
class Grayscale(Photometric):
    """The luminance in all three channels: 0.299 red + 0.587 green + 0.114 blue."""

    version: ClassVar[int] = 1

    def develop(self, tones: Tones, view: View) -> None:
        tones.planes = tones.grey()

    def words(self) -> str:
        return "grey"


@dataclass(frozen=True)
class Colour(Enhancement):
    """Multiply the distance of every pixel from its luminance by `factor` (0 is grey), or by a law of it per image."""

    version: ClassVar[int] = 1
    noun: ClassVar[str] = "colourfulness"

    def develop(self, tones: Tones, view: View) -> None:
        if tones.planes.shape[1] == 3:  # a grey image has no colour to change
            tones.planes = blend_images(tones.grey(), tones.planes, self.factor, view)


@dataclass(frozen=True)
class Sharpness(Enhancement):
    """Multiply the distance of every value from the smoothed image by `factor` (0 is smooth), or by a law of it per image."""

    version: ClassVar[int] = 1
    noun: ClassVar[str] = "sharpness"

    def develop(self, tones: Tones, view: View) -> None:
        planes = tones.planes
        tones.planes = blend_images(smooth(planes), planes, self.factor, view)


def smooth(images: Tensor) -> Tensor:
    """uint8 [B, C, H, W]: the weighted mean of each pixel (5) and its eight neighbours (1); the border stays as it is."""
    height, width = images.shape[2:]
    if min(height, width) < 3 or not len(images):
        return images
    inner = _inner_on_cpu(images) if images.device.type == "cpu" else _inner(images)
    out = images.clone()
    out[:, :, 1:-1, 1:-1] = inner
    return out


def _inner(images: Tensor) -> Tensor:
    wide = images.int()
    across = wide[..., :-2] + wide[..., 1:-1] + wide[..., 2:]
    total = across[..., :-2, :] + across[..., 1:-1, :] + across[..., 2:, :] + 4 * wide[..., 1:-1, 1:-1]
    return ((2 * total + 13) // 26).to(torch.uint8)


def _inner_on_cpu(images: Tensor) -> Tensor:
    """All planes as one tall image: what a filter mixes across planes lies on borders, which stay as they are.

    Thirteenths are never halves, so any way of rounding to the nearest gives the same.
    """
    import cv2

    tall = images.contiguous().numpy().reshape(-1, images.shape[3])
    return torch.from_numpy(cv2.filter2D(tall, -1, _KERNEL)).view(images.shape)[:, :, 1:-1, 1:-1]
