"""Two images into one: blended, chosen pixel by pixel, or with a box of the other; and the targets that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.lazy_torch import torch
from snellen.train.mixing.select import box_masks, selected, with_boxes
from snellen.train.mixing.targets import IGNORE, Targets, whole

if TYPE_CHECKING:
    from torch import Tensor

ALL = slice(None)


@dataclass(frozen=True)
class Pair:
    """Images [B, 3, H, W] and those they are mixed with: `source[order]`, or `source` itself.

    `first` is true if the first image alone has a target.
    """

    images: Tensor
    labels: Tensor
    source: Tensor
    order: Tensor | None
    first: bool

    def other(self, rows: slice = ALL, columns: slice = ALL) -> Tensor:
        """A new tensor (without `order`: a view) of that part of the partners' images."""
        part = self.source[:, :, rows, columns]
        return part if self.order is None else part.index_select(0, self.order)

    def first_other(self) -> Tensor:
        """[1, 3, H, W]: the partner of the first image."""
        return self.source[:1] if self.order is None else self.source.index_select(0, self.order[:1])

    def blended(self, share: float) -> tuple[Tensor, Targets]:
        """share · own + (1 − share) · partner in every pixel; bytes become float32."""
        return self._lerp(share), self._targets(share)

    def faded(self, mask: Tensor, share: Tensor) -> tuple[Tensor, Targets]:
        """mask · own + (1 − mask) · partner, mask float [1 or B, H, W]; bytes become float32."""
        if self.labels.dim() == 3:
            raise ValueError("a soft mask blends pixels, so label maps cannot follow it; use soft=0")
        return self._lerp(mask[:, None]), self._targets(share)

    def chosen(self, mine: Tensor, share: float | Tensor) -> tuple[Tensor, Targets]:
        """The own pixels where `mine`, bool [1 or B, H, W], is true, the partner's elsewhere."""
        images = selected(mine[:, None], self.images, self.other())
        if self.labels.dim() == 3:
            return images, whole(selected(mine, self.labels, self._other_labels()))
        return images, self._targets(share)

    def boxed(self, boxes: np.ndarray, share: float) -> tuple[Tensor, Targets]:
        """The own images, each with a box of its own (int [B, 4]: top, bottom, left, right) of its partner."""
        count, _, height, width = self.images.shape
        if self.images.device.type != "cpu":
            return self.chosen(~box_masks(boxes, height, width, self.images.device), share)
        every = np.arange(count)
        images = with_boxes(self.images, self.source, every if self.order is None else self.order.numpy(), boxes)
        if self.labels.dim() == 3:
            return images, whole(with_boxes(self.labels, self._other_labels(), every, boxes))
        return images, self._targets(share)

    def pasted(self, rows: slice, columns: slice, share: float) -> tuple[Tensor, Targets]:
        """The own images with one and the same box of their partners."""
        images = self.images.clone()
        images[:, :, rows, columns] = self.other(rows, columns)
        if self.labels.dim() == 3:
            labels = self.labels.clone()
            labels[:, rows, columns] = self._other_labels()[:, rows, columns]
            return images, whole(labels)
        return images, self._targets(share)

    def _lerp(self, share: float | Tensor) -> Tensor:
        other = self.other() if self.order is not None else self.source.clone()
        own = self.images
        if not own.is_floating_point():
            own, other = own.float(), other.float()
        return other.lerp_(own, share.to(own.dtype) if isinstance(share, torch.Tensor) else share)

    def _targets(self, share: float | Tensor) -> Targets:
        count, device = len(self.images), self.images.device
        if self.first:
            return whole(self.labels)
        if isinstance(share, torch.Tensor):
            weight = share.float().expand(count).contiguous()
        else:
            weight = torch.full((count,), share, dtype=torch.float32, device=device)
        return Targets(self.labels, self._other_labels(), weight)

    def _other_labels(self) -> Tensor:
        if self.first or self.order is None:
            return torch.full_like(self.labels, IGNORE)
        return self.labels.index_select(0, self.order)
