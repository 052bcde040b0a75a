"""Mixes by boxes: CutMix in its two published readings, SaliencyMix, and Cutout, which only removes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.lazy_torch import torch
from snellen.train.mixing.batch import Batch, expect_above_zero, mix_text, mixed
from snellen.train.mixing.partners import paint
from snellen.train.mixing.saliency import peaks
from snellen.train.mixing.select import selected
from snellen.train.mixing.targets import Targets

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class CutMix:
    """CutMix (Yun et al. 2019): a box of each image is its partner's, from the same place; label maps move along.

    One weight λ ~ Beta(α, α) per batch; the box has √(1 − λ) of each side, rounded down to even pixels, a uniform centre
    in the image, and is cut off at the border. `rule=nominal` (torchbearer, the mixing papers): each image has a box
    of its own, and the weight stays λ whatever was cut off. `rule=corrected` (the authors' code): one box per batch,
    and the weight is the share of pixels left.
    """

    alpha: float = 1.0
    rule: Literal["nominal", "corrected"] = "nominal"
    name: ClassVar[str] = "cutmix"

    __str__ = mix_text
    __call__ = mixed

    def __post_init__(self) -> None:
        expect_above_zero(alpha=self.alpha)

    def mix(self, batch: Batch) -> tuple[Tensor, Targets]:
        count, height, width = batch.shape
        weight = batch.weight(self.alpha)
        pair = batch.pair()
        if self.rule == "corrected":
            rows = _cut(int(batch.integers(1, height)[0]), half_side(weight, height, "corrected"), height)
            columns = _cut(int(batch.integers(1, width)[0]), half_side(weight, width, "corrected"), width)
            box = (rows.stop - rows.start) * (columns.stop - columns.start)
            return pair.pasted(rows, columns, 1 - box / (height * width))
        boxes = np.empty((count, 4), np.int64)
        for first, length in ((0, height), (2, width)):
            centre, half = batch.integers(count, length), half_side(weight, length, "nominal")
            np.maximum(centre - half, 0, out=boxes[:, first])
            np.minimum(centre + half, length, out=boxes[:, first + 1])
        return pair.boxed(boxes, weight)


@dataclass(frozen=True)
class Cutout:
    """Cutout (DeVries and Taylor 2017): one square of each image is removed; no partner, the label stays whole.

    `side` is the box's share of each side of the image; its centre lies anywhere, so it may leave the image in part.
    Removed pixels take the colour `mean`; label maps stay as they are.
    """

    side: float = 0.5
    name: ClassVar[str] = "cutout"

    __str__ = mix_text
    __call__ = mixed

    def __post_init__(self) -> None:
        if not 0 < self.side <= 1:
            raise ValueError(f"expected side in (0, 1], got {self.side:g}")

    def mix(self, batch: Batch) -> tuple[Tensor, Targets]:
        count, height, width = batch.shape
        centres = batch.send(np.stack([batch.integers(count, height), batch.integers(count, width)]))
        box = inside(centres, (int(self.side * height) // 2, int(self.side * width) // 2), (height, width))
        return selected(box[:, None], paint(batch.mean, batch.images), batch.images), batch.alone()


def half_side(weight: float, length: int, rule: str) -> int:
    """Half a box's side in pixels: √(1 − weight) of the length, rounded (nominal) or cut off (corrected), halved."""
    side = (1 - weight) ** 0.5 * length
    return (round(side) if rule == "nominal" else int(side)) // 2


def inside(centres: Tensor, halves: tuple[int, int], size: tuple[int, int]) -> Tensor:
    """bool [N, H, W]: the pixels in boxes with centres [2, N] (row, column), `halves` to each side of them."""
    down, across = (
        _within(at[:, None], half, length) for at, half, length in zip(centres.unbind(), halves, size, strict=True)
    )
    return down[:, :, None] & across[:, None, :]


def _within(centre: Tensor, half: int, length: int) -> Tensor:
    pixel = torch.arange(length, device=centre.device)
    return (pixel >= centre - half) & (pixel < centre + half)


def _cut(centre: int, half: int, length: int) -> slice:
    return slice(max(centre - half, 0), min(centre + half, length))


@dataclass(frozen=True)
class SaliencyMix:
    """SaliencyMix (Uddin et al. 2021): a box round the most salient pixel of the partner, pasted at the same place.

    One weight λ ~ Beta(α, α) per batch decides the box's size, as in `cutmix(rule=corrected)`; the loss weight is the
    share of pixels left. `per=batch` is the published reading: one box for all, round the peak of the first image's
    partner; with `sample` each partner's own peak. Label maps move along. Saliency is OpenCV's fine-grained one of
    the image as bytes (the public code shows it normalised floats, of which it reads the bytes: not copied here).
    """

    alpha: float = 1.0
    per: Literal["batch", "sample"] = "batch"
    name: ClassVar[str] = "saliencymix"

    __str__ = mix_text
    __call__ = mixed

    def __post_init__(self) -> None:
        expect_above_zero(alpha=self.alpha)

    def mix(self, batch: Batch) -> tuple[Tensor, Targets]:
        _, height, width = batch.shape
        weight = batch.weight(self.alpha)
        pair = batch.pair()
        halves = half_side(weight, height, "corrected"), half_side(weight, width, "corrected")
        box = inside(peaks(pair.other() if self.per == "sample" else pair.first_other()), halves, (height, width))
        return pair.chosen(~box, 1 - box.float().mean((1, 2)))
