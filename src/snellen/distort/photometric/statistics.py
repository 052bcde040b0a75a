"""Operations whose table follows from an image's own values: contrast, autocontrast, equalize."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from snellen.distort.law import expect_within
from snellen.distort.photometric.lookup import blend
from snellen.distort.photometric.stage import Enhancement, Photometric
from snellen.distort.photometric.tables import parameter, values
from snellen.distort.photometric.tones import Tones
from snellen.distort.view import View
from snellen.lazy_torch import torch


@dataclass(frozen=True)
class Contrast(Enhancement):
    """Multiply the distance of every value from the image's mean luminance by `factor`, or by a law of it per image."""

    version: ClassVar[int] = 1
    noun: ClassVar[str] = "contrast"

    def develop(self, tones: Tones, view: View) -> None:
        factor = parameter(view, "factor", self.factor).float()[:, None, None]
        tones.map(blend(tones.grey_mean()[:, None, None], values(tones.device), factor))


@dataclass(frozen=True)
class Autocontrast(Photometric):
    """Stretch each channel so that its least value is 0 and its greatest 255.

    `cutoff` is the share of pixels, in percent (0 to 49), that is left out at either end.
    """

    cutoff: float = 0.3
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        expect_within("cutoff", self.cutoff, 0, 49)

    def develop(self, tones: Tones, view: View) -> None:
        least, greatest = (end.double()[..., None] for end in tones.ends(self.cutoff))
        levels = values(tones.device).double()
        spread = greatest - least
        # A number divided by a tensor would be the product with its reciprocal, which is rounded otherwise.
        scale = torch.full_like(spread, 255.0).div_(spread)
        stretched = (levels * scale).add_(-least * scale).trunc_().clamp_(0, 255)
        tones.map(torch.where(spread > 0, stretched, levels).to(torch.uint8))

    def words(self) -> str:
        return f"autocontrast without {self.cutoff:g}% at either end"


@dataclass(frozen=True)
class Equalize(Photometric):
    """Spread the values of each channel so that all are about equally frequent."""

    version: ClassVar[int] = 1

    def develop(self, tones: Tones, view: View) -> None:
        counts = tones.counts()
        levels = values(tones.device).long()
        last = (levels * (counts > 0)).amax(-1, keepdim=True)
        step = (counts.sum(-1, keepdim=True) - counts.gather(-1, last)) // 255
        before = counts.cumsum(-1) - counts
        spread = ((step // 2 + before) // step.clamp(min=1)).clamp_(0, 255)
        tones.map(torch.where(step > 0, spread, levels).to(torch.uint8))

    def words(self) -> str:
        return "equalized"
