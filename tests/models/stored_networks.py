"""Networks written to files in each format, as a user's own export does it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

MEAN, STD = (0.5, 0.4, 0.3), (0.25, 0.3, 0.35)
NORMALISED = "mean=0.5,0.4,0.3&std=0.25,0.3,0.35"
SIDE = 16


class Small(nn.Module):
    """Three classes by colours and edges; `ending` makes its answers of logits, `bytes_in` that it normalises by itself."""

    def __init__(self, ending: nn.Module | None = None, bytes_in: bool = False, channels_last: bool = False) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(4)
        )
        self.head = nn.Linear(128, 3)
        self.ending, self.bytes_in, self.channels_last = ending or nn.Identity(), bytes_in, channels_last
        self.head.weight.data.mul_(4)

    def forward(self, images: Tensor) -> Tensor:
        if self.channels_last:
            images = images.permute(0, 3, 1, 2)
        if self.bytes_in:
            images = (images.float() / 255 - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)
        logits: Tensor = self.ending(self.head(self.features(images).flatten(1)))
        return logits


class Several(nn.Module):
    """A network that returns features beside its answers."""

    def __init__(self) -> None:
        super().__init__()
        self.small = Small()

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        features = self.small.features(images)
        return features, self.small.head(features.flatten(1))


def some_images(count: int = 5, side: int = SIDE) -> Tensor:
    """Smooth images uint8 [count, 3, side, side], each another."""
    generator = torch.Generator().manual_seed(1)
    coarse = torch.rand(count, 3, 4, 4, generator=generator)
    return (nn.functional.interpolate(coarse, (side, side), mode="bilinear") * 255).round().to(torch.uint8)


def normalised(images: Tensor) -> Tensor:
    mean, std = (torch.tensor(values).view(1, 3, 1, 1) for values in (MEAN, STD))
    return (images.float() / 255 - mean) / std


def example(network: nn.Module, side: int, batch: int = 2) -> Tensor:
    """An input of the kind that a network takes."""
    images = some_images(batch, side)
    images = images.permute(0, 2, 3, 1).contiguous() if getattr(network, "channels_last", False) else images
    return images if getattr(network, "bytes_in", False) else images.float() / 255


def write(network: nn.Module, path: Path, side: int = SIDE, dynamic: Sequence[int] = (0,), **settings: Any) -> Path:
    """The network in the format of the path's ending; `dynamic` dimensions of its input may have any length."""
    network = network.eval()
    given = example(network, side)
    if not dynamic and path.suffix != ".pt":
        given = given[: settings.pop("batch", 1)]
    shapes = (dict.fromkeys(dynamic, torch.export.Dim.DYNAMIC),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if path.suffix == ".onnx":
            torch.onnx.export(network, (given,), path, dynamic_shapes=shapes, verbose=False, **settings)
        elif path.suffix == ".pt2":
            torch.export.save(torch.export.export(network, (given,), dynamic_shapes=shapes), path)
        else:
            torch.jit.save(torch.jit.trace(network, given), path)
    return path
