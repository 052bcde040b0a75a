"""Colourfulness: towards and away from the grey image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from snellen.distort.photometric.pairs import blend_images
from snellen.distort.photometric.stage import Enhancement, Photometric
from snellen.distort.photometric.tones import Tones
from snellen.distort.view import View


@dataclass(frozen=True)
class Grayscale(Photometric):
    """The luminance in all three channels: 0.299 red + 0.587 green + 0.114 blue."""

    version: ClassVar[int] = 1

    def develop(self, tones: Tones, view: View) -> None:
        tones.planes = tones.grey()

    def words(self) -> str:
        return "grey"


@dataclass(frozen=True)
class Colour(Enhancement):
    """Multiply the distance of every pixel from its luminance by `factor` (0 is grey), or by a law of it per image."""

    version: ClassVar[int] = 1
    noun: ClassVar[str] = "colourfulness"

    def develop(self, tones: Tones, view: View) -> None:
        if tones.planes.shape[1] == 3:  # a grey image has no colour to change
            tones.planes = blend_images(tones.grey(), tones.planes, self.factor, view)
