"""Additive Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.distort.distortion import Distortion
from snellen.distort.draws import NORMAL_BITS, in_one_kernel, normal_table
from snellen.distort.law import Law, expect_within, in_numbers
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Noise(Distortion):
    """Add Gaussian noise to every pixel and channel, rounded and clipped to 0…255.

    `sigma` is the standard deviation in units of the full range (0.1 is 25.5 grey levels), or a law of it per image.
    """

    sigma: float | Law = 0.1
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    identity: ClassVar[dict[str, object]] = {"sigma": 0}

    def __post_init__(self) -> None:
        expect_within("sigma", self.sigma, 0, 10)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        # Whole numbers throughout, so that every device rounds alike: sigma in 2^-8 grey levels.
        levels = view.tensor(np.rint(view.parameter("sigma", self.sigma) * 255 * 256).astype(np.int32))
        shift = NORMAL_BITS + 8
        if in_one_kernel(images.device, images.numel()):
            from snellen.distort.draw_kernels import add_noise

            return add_noise(images, view.draw.key_tensor("noise"), levels, normal_table(images.device), shift)
        draws = view.draw.normal("noise", tuple(images.shape[1:]))
        draws = draws.mul_(levels[:, None, None, None]).add_(1 << (shift - 1)).bitwise_right_shift_(shift)
        return draws.add_(images).clamp_(0, 255).to(torch.uint8)

    def words(self) -> str:
        return f"Gaussian noise of σ {in_numbers(self.sigma) or 'drawn'}"
