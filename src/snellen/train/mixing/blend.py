"""Mixes of whole images: MixUp, none at all, and two in turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from snellen.train.mixing.batch import Batch, BatchMix, expect_above_zero, mix_text, mixed
from snellen.train.mixing.boxes import CutMix
from snellen.train.mixing.targets import Targets

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class MixUp:
    """MixUp (Zhang et al. 2018): λ of each image plus 1 − λ of its partner, one λ ~ Beta(α, α) per batch.

    Bytes become float32 in 0 to 255. Label maps do not move: both are targets of every pixel, with weights.
    """

    alpha: float = 1.0
    name: ClassVar[str] = "mixup"

    __str__ = mix_text
    __call__ = mixed

    def __post_init__(self) -> None:
        expect_above_zero(alpha=self.alpha)

    def mix(self, batch: Batch) -> tuple[Tensor, Targets]:
        weight = batch.weight(self.alpha)
        return batch.pair().blended(weight)


@dataclass(frozen=True)
class Unmixed:
    """The images and labels as they are, `none()` in the language."""

    name: ClassVar[str] = "none"

    __str__ = mix_text
    __call__ = mixed

    def mix(self, batch: Batch) -> tuple[Tensor, Targets]:
        return batch.images, batch.alone()


@dataclass(frozen=True)
class Alternate:
    """`first` in the batches 0, 2, 4 …, `second` in the others."""

    first: BatchMix = field(default_factory=CutMix)
    second: BatchMix = field(default_factory=MixUp)
    name: ClassVar[str] = "alternate"

    __str__ = mix_text
    __call__ = mixed

    def mix(self, batch: Batch) -> tuple[Tensor, Targets]:
        return (self.second if batch.step % 2 else self.first).mix(batch)
