"""Grey digits on a device, what a network answers to them, and which of them shifted hues fool."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from snellen.search.hue import shift_hue
from snellen.train.normalise import Normalised

SIDE = 32


@dataclass(frozen=True)
class Digits:
    """uint8 [N, 3, 32, 32] and labels [N], on a device."""

    images: Tensor
    labels: Tensor


def read_digits(file: Path, device: torch.device, limit: int | None) -> Digits:
    """Enlarged to 32 pixels by Lanczos and repeated in three channels, as published."""
    with np.load(file) as arrays:
        images, labels = arrays["images"][:limit], arrays["labels"][:limit]
    large = [np.asarray(Image.fromarray(image).resize((SIDE, SIDE), Image.Resampling.LANCZOS)) for image in images]
    pixels = torch.from_numpy(np.stack(large))[:, None].expand(-1, 3, -1, -1).contiguous()
    return Digits(pixels.to(device), torch.from_numpy(labels.astype(np.int64)).to(device))


@dataclass(frozen=True)
class Answers:
    """What a network answers to uint8 images."""

    network: nn.Module
    normalise: Normalised
    float32: bool

    @torch.no_grad()
    def __call__(self, images: Tensor) -> Tensor:
        with torch.autocast("cuda", torch.bfloat16, enabled=images.is_cuda and not self.float32):
            return self.network(self.normalise(images)).argmax(1)

    def accuracy(self, digits: Digits) -> float:
        right = [self(images) == labels for images, labels in zip(digits.images.split(5000), digits.labels.split(5000))]
        return float(torch.cat(right).float().mean())


def hue_fooled(answers: Answers, digits: Digits, shifts: int, seed: int, at_once: int = 50) -> Tensor:
    """bool [N]: fooled as it is, or by one of the shifts of `snellen.search.hue.HueShift`."""
    random = np.random.default_rng([seed, 2])
    fooled = torch.cat([answers(images) for images in digits.images.split(5000)]) != digits.labels
    for first in range(1, shifts + 1, at_once):
        number = np.arange(first, min(first + at_once, shifts + 1))
        left = (~fooled).nonzero().flatten()
        if not len(left):
            break
        shape = (len(left), len(number))
        hue, reach = random.random(shape), (2 * random.random(shape) - 1) * number / shifts
        for rows, own_hue, own_reach in zip(
            left.split(200), *(torch.from_numpy(one.astype(np.float32)).split(200) for one in (hue, reach))
        ):
            images = digits.images[rows].repeat_interleave(len(number), 0)
            shown = shift_hue(images, own_hue.flatten().to(images.device), own_reach.flatten().to(images.device))
            wrong = answers(shown).view(len(rows), -1) != digits.labels[rows][:, None]
            fooled[rows] = wrong.any(1)
    return fooled
