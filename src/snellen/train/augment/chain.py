"""The augmentation of a training run: which changes, how strong, in which order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args, overload

from snellen.errors import UserError, unknown
from snellen.lazy_torch import torch
from snellen.train.augment.jitter import Jitter
from snellen.train.augment.shift import UNLABELLED, Fill, Flip, RandomShift
from snellen.train.augment.zoom import RandomZoom

if TYPE_CHECKING:
    from torch import Tensor

    Change = Flip | RandomShift | RandomZoom | Jitter


@dataclass(frozen=True)
class Augment:
    """Mirror, shift, zoom and jitter a batch, in this order; what is off draws nothing.

    `flip` mirrors half the images; `padding` is the largest shift in pixels; `resized` the (low, high) share of the area
    that a resized crop keeps, None for none; `jitter` in 0…1 is the strength of brightness, contrast and saturation alike
    (the factor lies in 1 ± jitter); `fill` is what a shift uncovers, `black` or `reflect`. The size stays as it is.
    """

    flip: bool = True
    padding: int = 0
    resized: tuple[float, ...] | None = None
    jitter: float = 0.0
    fill: Fill = "black"

    def __post_init__(self) -> None:
        if self.padding < 0:
            raise UserError(f"expected padding of at least 0, got {self.padding}")
        if not 0 <= self.jitter <= 1:
            raise UserError(f"expected jitter in [0, 1], got {self.jitter}")
        if self.resized is not None and not (len(self.resized) == 2 and 0 < self.resized[0] <= self.resized[1] <= 1):
            raise UserError(
                f"expected resized as (low, high) shares of the area, 0 < low ≤ high ≤ 1, got {self.resized}"
            )
        if self.fill not in get_args(Fill):
            raise unknown("fill", self.fill, get_args(Fill))

    @overload
    def __call__(
        self, images: Tensor, draws: torch.Generator, maps: None = None, ignore: int = UNLABELLED
    ) -> Tensor: ...

    @overload
    def __call__(
        self, images: Tensor, draws: torch.Generator, maps: Tensor, ignore: int = UNLABELLED
    ) -> tuple[Tensor, Tensor]: ...

    def __call__(
        self, images: Tensor, draws: torch.Generator, maps: Tensor | None = None, ignore: int = UNLABELLED
    ) -> Tensor | tuple[Tensor, Tensor]:
        """The images uint8 [B, 3, H, W] changed; with label `maps` [B, H, W] both, moved alike.

        The label `ignore` stands where a shift uncovers black.
        """
        for change in self.changes(images.shape, draws):
            images = change.images(images)
            maps = None if maps is None else change.maps(maps, ignore)
        return images if maps is None else (images, maps)

    def changes(self, shape: tuple[int, ...], draws: torch.Generator) -> Iterator[Change]:
        """What is drawn for a batch of `shape` [B, 3, H, W], one after the other."""
        if self.flip:
            yield Flip.draw(shape[0], draws)
        if self.padding:
            yield RandomShift.draw(shape[0], self.padding, draws, self.fill)
        if self.resized is not None:
            yield RandomZoom.draw(shape, (shape[2], shape[3]), draws, (self.resized[0], self.resized[1]))
        if self.jitter:
            yield Jitter.draw(shape[0], draws, self.jitter, self.jitter, self.jitter)
