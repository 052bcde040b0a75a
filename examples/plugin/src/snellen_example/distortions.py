"""Scan lines: rows of the image go black."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.distort import Distortion, View

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Scanlines(Distortion):
    """Blacken every `every`-th row, a whole number of at least 1, beginning with the first."""

    every: int = 4
    version: ClassVar[int] = 1  # raise it when pixels change; without one, any change of the package's code counts

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"expected every of at least 1, got {self.every}")

    def __call__(self, images: Tensor, view: View) -> Tensor:
        """uint8 [B, 3, H, W] in and out; the images given are not changed."""
        lined = images.clone()
        lined[:, :, :: self.every] = 0
        return lined

    def words(self) -> str:
        return f"1 row of {self.every} black"
