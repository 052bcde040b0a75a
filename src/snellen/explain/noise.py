"""Noise that belongs to an image: the same in any batch, at any place in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from snellen.hashing import pixel_checksums
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


def image_seeds(images: Tensor, seed: int) -> list[int]:
    """A seed of 63 bits per image [B, …], from its pixels and the seed given."""
    pixels = np.ascontiguousarray(images.detach().cpu().numpy()).reshape(len(images), -1)
    sums = pixel_checksums(pixels.view(np.uint8))
    digests = (hashlib.blake2b(f"{seed} {checksum}".encode(), digest_size=8).digest() for checksum in sums)
    return [int.from_bytes(digest) >> 1 for digest in digests]


class NoiseOfImages:
    """Standard normal noise for a batch of images, each from a generator of its own."""

    def __init__(self, seeds: Sequence[int], device: torch.device) -> None:
        self.generators = [torch.Generator(device).manual_seed(seed) for seed in seeds]
        self.device = device

    def draw(self, copies: int, like: Tensor) -> Tensor:
        """[B, copies, channels, h, w] for features [B, channels, h, w], laid out in memory as these are.

        The order of the draws is that of the dimensions, whatever the layout.
        """
        last = like.is_contiguous(memory_format=torch.channels_last) and not like.is_contiguous()
        _, channels, height, width = like.shape
        shape = (len(like), copies, height, width, channels) if last else (len(like), copies, channels, height, width)
        noise = torch.empty(shape, device=self.device)
        noise = noise.permute(0, 1, 4, 2, 3) if last else noise
        for row, generator in enumerate(self.generators):
            noise[row] = torch.randn((copies, channels, height, width), generator=generator, device=self.device)
        return noise
