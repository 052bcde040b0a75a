"""Operations on single values: each is one table of 256 entries, the same for every image unless its parameter is drawn."""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.distort.law import Law, expect_within, in_numbers
from snellen.distort.photometric.lookup import blend
from snellen.distort.photometric.stage import Enhancement, Photometric
from snellen.distort.photometric.tones import Tones
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


def parameter(view: View, name: str, value: float | Law) -> Tensor:
    """float64 [B], or [1] where all images share it: a table for each image would be looked up one by one."""
    return view.tensor(view.distinct(name, value))


def values(device: torch.device) -> Tensor:
    """int16 [256]: 0 to 255."""
    return torch.arange(256, dtype=torch.int16, device=device)


@dataclass(frozen=True)
class Tabular(Photometric):
    """An operation that is a table of its parameter, the field `setting`; where all images share it the table is kept."""

    setting: ClassVar[str]

    @abstractmethod
    def table(self, numbers: Tensor) -> Tensor:
        """uint8 [b, c, 256] for parameters float64 [b]; c is 1 or the channels."""

    def develop(self, tones: Tones, view: View) -> None:
        value = getattr(self, self.setting)
        tones.map(
            self.table(parameter(view, self.setting, value))
            if isinstance(value, Law)
            else _constant_table(self, tones.device)
        )


@functools.lru_cache(
    maxsize=4096
)  # of a kilobyte: a search comes back to each of its edits, and a GPU makes them slowly
def _constant_table(stage: Tabular, device: torch.device) -> Tensor:
    return stage.table(torch.tensor([getattr(stage, stage.setting)], dtype=torch.float64)).to(device)


@dataclass(frozen=True)
class Brightness(Tabular, Enhancement):
    """Multiply every value by `factor` (1 changes nothing, 0 is black), or by a law of it per image."""

    version: ClassVar[int] = 1
    noun: ClassVar[str] = "brightness"
    setting: ClassVar[str] = "factor"

    def table(self, numbers: Tensor) -> Tensor:
        levels = values(numbers.device)
        return blend(torch.zeros_like(levels), levels, numbers.float()[:, None, None])


@dataclass(frozen=True)
class Solarize(Tabular):
    """Turn values of at least `threshold` (0 to 256) into their negative; 256 changes nothing, 0 is the negative."""

    threshold: float | Law = 128
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"threshold": 256}
    setting: ClassVar[str] = "threshold"

    def __post_init__(self) -> None:
        expect_within("threshold", self.threshold, 0, 256)

    def table(self, numbers: Tensor) -> Tensor:
        levels = values(numbers.device)
        return torch.where(levels < numbers.floor()[:, None, None], levels, 255 - levels).to(torch.uint8)

    def words(self) -> str:
        return f"solarized from {in_numbers(self.threshold) or 'a drawn value'}"


@dataclass(frozen=True)
class Posterize(Photometric):
    """Keep the highest `bits` of every value, 1 to 8; 8 changes nothing."""

    bits: int = 4
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"bits": 8}

    def __post_init__(self) -> None:
        expect_within("bits", self.bits, 1, 8)

    def develop(self, tones: Tones, view: View) -> None:
        tones.map(values(tones.device).bitwise_and_(256 - 2 ** (8 - self.bits)).to(torch.uint8)[None, None])

    def words(self) -> str:
        return f"{self.bits} bits per channel"


@dataclass(frozen=True)
class Invert(Photometric):
    """The negative: 255 less every value."""

    version: ClassVar[int] = 1

    def develop(self, tones: Tones, view: View) -> None:
        tones.map((255 - values(tones.device)).to(torch.uint8)[None, None])

    def words(self) -> str:
        return "negative"


@dataclass(frozen=True)
class ChannelShift(Tabular):
    """Add `shift` (−255 to 255) to one channel, cut to 0…255."""

    shift: float | Law = 60
    identity: ClassVar[dict[str, object]] = {"shift": 0}
    setting: ClassVar[str] = "shift"

    @property
    @abstractmethod
    def channel(self) -> int:
        """0 for red, 1 for green, 2 for blue."""

    def __post_init__(self) -> None:
        expect_within("shift", self.shift, -255, 255)

    def table(self, numbers: Tensor) -> Tensor:
        levels = values(numbers.device)
        table = levels.to(torch.uint8).expand(len(numbers), 3, 256).clone()
        table[:, self.channel] = (levels + numbers.trunc()[:, None]).clamp_(0, 255).to(torch.uint8)
        return table

    def words(self) -> str:
        number = f"{self.shift:+g}" if isinstance(self.shift, int | float) else in_numbers(self.shift) or "shifted"
        return f"{type(self).__name__.lower()} {number}"


@dataclass(frozen=True)
class Red(ChannelShift):
    """Add `shift` (−255 to 255, or a law of it) to the red channel, cut to 0…255."""

    version: ClassVar[int] = 1
    channel: ClassVar[int] = 0


@dataclass(frozen=True)
class Green(ChannelShift):
    """Add `shift` (−255 to 255, or a law of it) to the green channel, cut to 0…255."""

    version: ClassVar[int] = 1
    channel: ClassVar[int] = 1


@dataclass(frozen=True)
class Blue(ChannelShift):
    """Add `shift` (−255 to 255, or a law of it) to the blue channel, cut to 0…255."""

    version: ClassVar[int] = 1
    channel: ClassVar[int] = 2
