"""A photometric stage: what it does to tones, so that a chain of them reads and writes the pixels as seldom as possible."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.distort.distortion import Distortion
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
