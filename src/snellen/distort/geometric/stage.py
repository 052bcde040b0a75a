"""A geometric stage: every pixel is read from where an affine map brings it from."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from snellen.distort.distortion import Moving
from snellen.distort.geometric.affine import ONE, Affine
from snellen.distort.raster import mirrored
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

PIXELS = 1 << 15  # blended at once on a CPU: what stays in its cache is faster
WEIGHT = 256  # a whole pixel's, in the interpolation


@dataclass(frozen=True)
class Geometric(Moving):
    """A distortion that moves every pixel by one affine map per image, with bilinear interpolation in whole numbers.

    Beyond the border lies the image mirrored at it, its last pixel repeated: −1 is 0, −2 is 1. Masks, boxes and label maps move
    along, maps by the nearest pixel.
    """

    @abstractmethod
    def affine(self, height: int, width: int, view: View) -> Affine:
        """Where the points of the images go."""

    def __call__(self, images: Tensor, view: View) -> Tensor:
        if not images.numel():
            return images
        many = max(PIXELS // (images.shape[-2] * images.shape[-1]), 1) if images.device.type == "cpu" else len(images)
        shared = None if self.draws else self._reading(images[:1], view.rows(0, 1))
        parts = []
        for start in range(0, len(images), many):
            part = images[start : start + many]
            own = shared or self._reading(part, view.rows(start, start + len(part)))
            parts.append(_interpolated(part, *own))
        return torch.cat(parts)

    def move(self, maps: Tensor, view: View) -> Tensor:
        """Maps [B, H, W] of any type, or images [B, C, H, W]: each pixel is the nearest one."""
        if not maps.numel():
            return maps
        column, row = ((place + ONE // 2) // ONE for place in self._sources(maps, view))
        stack = maps[:, None] if maps.ndim == 3 else maps
        return _pixels(stack.flatten(2), _places(column, row, *maps.shape[-2:])).view_as(maps)

    def carry(self, view: View, at: View, height: int, width: int) -> View:
        """Saliency, masks and boxes too: whatever comes after sees the object where it is now."""
        view = super().carry(view, at, height, width)
        if view.masks is not None:
            view = replace(view, masks=self.move(view.masks, at), empty=None)
        if view.boxes is not None:
            affine = self.affine(height, width, at)
            view = replace(
                view, boxes=[affine.of_boxes(some, height, width, row) for row, some in enumerate(view.boxes)]
            )
        return view

    def _sources(self, images: Tensor, view: View) -> tuple[Tensor, Tensor]:
        """int32 [b, H, W] each: x and y of the place that each pixel is read from, in parts of a pixel."""
        height, width = images.shape[-2:]
        pieces = self.affine(height, width, view).sources(height, width)
        x_across, x_down, y_across, y_down = (view.tensor(piece) for piece in pieces)
        return x_across[:, None, :] + x_down[:, :, None], y_across[:, None, :] + y_down[:, :, None]

    def _reading(self, images: Tensor, view: View) -> tuple[Tensor, ...]:
        """The four pixels around each place (as `_places`: two above, two below), and the weights of the right and the lower."""
        x, y = self._sources(images, view)
        column, row = x // ONE, y // ONE
        sides = images.shape[-2:]
        around = (_places(column + right, row + lower, *sides) for lower in (0, 1) for right in (0, 1))
        step = ONE // WEIGHT
        weights = (((place % ONE + step // 2) // step).flatten(1)[:, None] for place in (x, y))
        return (*around, *weights)


def _places(column: Tensor, row: Tensor, height: int, width: int) -> Tensor:
    """int64 [b, 1, H · W]: which pixel of a flat image lies at a column and row, beyond the border too."""
    return (mirrored(row, height) * width + mirrored(column, width)).long().flatten(1)[:, None]


def _pixels(flat: Tensor, places: Tensor) -> Tensor:
    """The pixels of flat images [B, C, H · W] at some places of each."""
    return flat.gather(2, places.expand(len(flat), flat.shape[1], -1))


def _interpolated(images: Tensor, *reading: Tensor) -> Tensor:
    """Between the four pixels around each place, rounded to the nearest."""
    *around, across, down = reading
    flat = images.flatten(2)
    above_left, above, below_left, below = (_pixels(flat, places).to(torch.int32) for places in around)
    above.sub_(above_left).mul_(across).add_(above_left.mul_(WEIGHT))
    below.sub_(below_left).mul_(across).add_(below_left.mul_(WEIGHT))
    blend = below.sub_(above).mul_(down).add_(above.mul_(WEIGHT)).add_(WEIGHT * WEIGHT // 2)
    return blend.bitwise_right_shift_(16).to(torch.uint8).view_as(images)
