"""A photometric stage: what it does to tones, so that a chain of them reads and writes the pixels as seldom as possible."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.distort.distortion import Distortion
from snellen.distort.law import Law, expect_within, in_numbers
from snellen.distort.photometric.tones import Tones
from snellen.distort.view import View

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Photometric(Distortion):
    """A distortion that changes colours and moves nothing; neighbours in a chain are fused."""

    @abstractmethod
    def develop(self, tones: Tones, view: View) -> None:
        """Change the tones of a batch."""

    def __call__(self, images: Tensor, view: View) -> Tensor:
        tones = Tones(images)
        self.develop(tones, view)
        return tones.pixels


@dataclass(frozen=True)
class Enhancement(Photometric):
    """Towards a duller image by a `factor` below 1, away from it above; 1 changes nothing."""

    factor: float | Law = 0.6
    identity: ClassVar[dict[str, object]] = {"factor": 1}
    noun: ClassVar[str] = ""  # what is multiplied, for reports

    def __post_init__(self) -> None:
        expect_within("factor", self.factor, 0, 10)

    def words(self) -> str:
        return f"{self.noun} × {in_numbers(self.factor) or 'drawn'}"
