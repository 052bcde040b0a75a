"""SaliencyMix: CutMix whose box sits on what stands out in the partner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from snellen.train.mixing.batch import Batch, expect_above_zero, mix_text, mixed
from snellen.train.mixing.boxes import half_side, inside
from snellen.train.mixing.saliency import peaks
from snellen.train.mixing.targets import Targets

if TYPE_CHECKING:
    from torch import Tensor


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
