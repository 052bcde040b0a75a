"""Tones: a batch whose pixels are looked up in a table as late as possible, and what is known of their brightness."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from snellen.distort.photometric.lookup import look_up
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_WEIGHTS = (19595, 38470, 7471)  # of red, green and blue in Pillow's grey, in 65,536ths
_IMAGES_AT_ONCE = 128  # of 32 px on a CPU: what stays in its cache is faster


class Tones:
    """uint8 [B, 3, H, W] and a table (uint8 [b, c, 256]) that still waits to be applied.

    Tables that follow each other become one, so a chain of them costs one lookup; it overwrites pixels that are the tones' own,
    since fresh memory costs as much as the lookup. Grey images keep one channel until the end.
    Statistics are kept until pixels change.
    """

    def __init__(self, images: Tensor) -> None:
        self._planes, self._own = images, False
        self._table: Tensor | None = None
        self._known: dict[object, Tensor] = {}

    @property
    def pixels(self) -> Tensor:
        """uint8 [B, 3, H, W]: the pixels as they are now."""
        planes = self.planes
        return planes if planes.shape[1] == 3 else planes.expand(-1, 3, -1, -1).contiguous()

    @property
    def planes(self) -> Tensor:
        """uint8 [B, C, H, W]: the same, with one channel where all three are equal."""
        if self._table is not None:
            self._planes, self._table = look_up(self._planes, self._table, in_place=self._own), None
            self._own = True
        return self._planes

    @planes.setter
    def planes(self, planes: Tensor) -> None:
        self._own |= planes is not self._planes
        self._planes, self._table = planes, None
        self._known.clear()

    @property
    def device(self) -> torch.device:
        return self._planes.device

    def map(self, table: Tensor) -> None:
        """Send every value through a table uint8 [b, c, 256]: b is 1 or the batch, c is 1 or the channels."""
        self._table = table if self._table is None else _after(self._table, table)
        self._known.clear()

    def grey(self) -> Tensor:
        """uint8 [B, 1, H, W]: Pillow's luminance, which of a grey image is the image itself."""
        if "grey" not in self._known:
            self._known["grey"] = self.planes if self.planes.shape[1] == 1 else _grey(self.planes)
        return self._known["grey"]

    def grey_mean(self) -> Tensor:
        """int64 [B]: the mean luminance, rounded half up."""
        if "mean" not in self._known:
            grey = self.grey().flatten(1)
            self._known["mean"] = (2 * grey.sum(1) + grey.shape[1]) // (2 * grey.shape[1])
        return self._known["mean"]

    def ends(self, cutoff: float) -> tuple[Tensor, Tensor]:
        """uint8 [B, C] each: the least and the greatest value of each channel, without `cutoff` percent at either end."""
        height, width = self._planes.shape[2:]
        cut = int(height * width * cutoff // 100)
        if ("least", cut) not in self._known:
            self._known["least", cut], self._known["greatest", cut] = trimmed_ends(self.planes.flatten(2), cut)
        return self._known["least", cut], self._known["greatest", cut]

    def counts(self) -> Tensor:
        """int64 [B, C, 256]: how often each value occurs in each channel."""
        if "counts" not in self._known:
            planes = self.planes.flatten(2)
            counts = torch.zeros((*planes.shape[:2], 256), dtype=torch.int64, device=planes.device)
            ones = torch.ones((), dtype=torch.int64, device=planes.device)
            self._known["counts"] = counts.scatter_add_(2, planes.long(), ones.expand(planes.shape))
        return self._known["counts"]


def _after(first: Tensor, second: Tensor) -> Tensor:
    """One table that does what two do in turn."""
    shape = torch.broadcast_shapes(first.shape, second.shape)
    return second.expand(shape).gather(2, first.expand(shape).long())


def _grey(images: Tensor) -> Tensor:
    parts = images.split(_IMAGES_AT_ONCE if images.device.type == "cpu" else max(1, len(images)))
    return torch.cat([_grey_of(part) for part in parts])


def _grey_of(images: Tensor) -> Tensor:
    red, green, blue = (images[:, channel].int().mul_(weight) for channel, weight in enumerate(_WEIGHTS))
    return red.add_(green).add_(blue).add_(1 << 15).bitwise_right_shift_(16).to(torch.uint8)[:, None]


def trimmed_ends(planes: Tensor, cut: int) -> tuple[Tensor, Tensor]:
    """The least and the greatest value along the last axis once `cut` pixels are taken away at either end.

    What is taken away at the lower end is gone before the upper one is cut, so both meet where little is left.
    """
    count = planes.shape[-1]
    if cut == 0:
        return planes.amin(-1), planes.amax(-1)
    if 2 * cut >= count:
        middle = min(cut, count - 1)
        least = planes.sort(-1).values[..., middle]
        return least, least
    return _outermost(planes, cut, largest=False), _outermost(planes, cut, largest=True)


def _outermost(planes: Tensor, cut: int, largest: bool) -> Tensor:
    """The value at place `cut` from one end.

    The `cut` + 1 outermost pixels lie in the `cut` + 1 stretches with the outermost best pixel, so only those are ranked.
    """
    wanted, count = cut + 1, planes.shape[-1]
    stretch = 2 ** round(math.log2(max(1.0, math.sqrt(count / wanted))))
    stretches = count // stretch
    if stretches <= 2 * wanted:
        return planes.topk(wanted, dim=-1, largest=largest).values[..., -1]
    whole = planes[..., : stretches * stretch].unflatten(-1, (stretches, stretch))
    best = whole.amax(-1) if largest else whole.amin(-1)
    chosen = best.topk(wanted, dim=-1, largest=largest, sorted=False).indices
    few = whole.gather(-2, chosen[..., None].expand(*chosen.shape, stretch)).flatten(-2)
    rest = planes[..., stretches * stretch :]
    if rest.shape[-1]:
        import torch

        few = torch.cat([few, rest], -1)
    return few.topk(wanted, dim=-1, largest=largest).values[..., -1]
