"""Additive Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from snellen.distort.chain import chained
from snellen.distort.draws import NORMAL_BITS
from snellen.distort.law import Law, expect_within
from snellen.distort.view import View
from snellen.lazy_torch import torch
from snellen.notation import text_form

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Noise:
    """Add Gaussian noise to every pixel and channel, rounded and clipped to 0…255.

    `sigma` is the standard deviation in units of the full range (0.1 is 25.5 grey levels), or a law of it per image.
    """

    sigma: float | Law = 0.1
    version: ClassVar[int] = 1
    still: ClassVar[str] = "noise(0)"
    needs: ClassVar[frozenset[str]] = frozenset()

    __str__ = text_form
    __or__ = chained

    def __post_init__(self) -> None:
        expect_within("sigma", self.sigma, 0, 10)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        draws = view.draw.normal("noise", tuple(images.shape[1:]))
        # Whole numbers throughout, so that every device rounds alike: sigma in 2^-8 grey levels.
        levels = np.rint(view.parameter("sigma", self.sigma) * 255 * 256).astype(np.int32)
        shift = NORMAL_BITS + 8
        draws = draws.mul_(view.tensor(levels)[:, None, None, None]).add_(1 << (shift - 1)).bitwise_right_shift_(shift)
        return draws.add_(images).clamp_(0, 255).to(torch.uint8)
