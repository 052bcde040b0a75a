"""How a set of covered images is built: every choice that changes a byte of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from snellen.build.clarity import Clarity
from snellen.data.canvas import Canvas, Interpolation
from snellen.distort import Distortion, parse
from snellen.errors import UserError, unknown

NONE = "none"
FITS = ("squash", "crop", "pad")
INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos", "box", "hamming")
LARGEST = 4096  # pixels
MOST_SEED = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Settings(ABC):
    """Settings that both sets have.

    Images are put on a canvas of `size` × `size` pixels, by the rule `fit` and the filter `interpolation`, as for a model with
    that canvas; 0 leaves each at its own size. `types` are the occluders, by default all; `seed` is that of the draws. An
    occluder may hide from `least` to `most` of the object: where it does not, it is drawn again (`outside=redraw`) or the image
    is left out (`drop`). Images have more than `min_pixels` pixels and a sharpness above `min_sharpness`, measured as they are
    or, with `resized`, on the canvas. With `occluded`, also those are taken whose level says that something hides the object.
    """

    set_name: ClassVar[str]

    size: int = 224
    fit: Literal["squash", "crop", "pad"] = "squash"
    interpolation: Interpolation = "bilinear"
    types: tuple[str, ...] = ()
    seed: int = 0
    least: float = 0.05
    most: float = 0.95
    outside: Literal["redraw", "drop"] = "redraw"
    min_pixels: float = 0
    min_sharpness: float = 0
    resized: bool = False
    occluded: bool = False

    def __post_init__(self) -> None:
        expect_word("fit", self.fit, FITS)
        expect_word("interpolation", self.interpolation, INTERPOLATIONS)
        expect_word("outside", self.outside, ("redraw", "drop"))
        if not 0 <= self.least <= self.most <= 1:
            raise UserError(f"expected 0 ≤ --least ≤ --most ≤ 1, got {self.least:g} and {self.most:g}")
        if self.size and not 8 <= self.size <= LARGEST:
            raise UserError(f"expected --size from 8 to {LARGEST:,}, or 0 for each image's own, got {self.size}")
        if not 0 <= self.seed <= MOST_SEED:
            raise UserError(f"expected --seed from 0 to {MOST_SEED:,}, got {self.seed}")
        _ = self.clarity  # a wrong bound is refused here

    @property
    def clarity(self) -> Clarity:
        """How clear an image must be."""
        return Clarity(self.min_pixels, self.min_sharpness)

    @property
    def canvas(self) -> Canvas | None:
        """The canvas of all images; None where each stays as it is."""
        return Canvas(self.size, self.size, self.fit, 0, self.interpolation) if self.size else None

    @property
    def bounds(self) -> str:
        """What the text of an occluder says of the share that it may hide."""
        return f", least={self.least:g}, most={self.most:g}" if self.outside == "redraw" else ""

    @abstractmethod
    def texts(self) -> Mapping[str, str]:
        """Type → text of the distortion, of all types that these settings know."""

    def notes(self) -> list[str]:
        """What a user should know of these settings."""
        return []

    def distortions(self) -> dict[str, Distortion]:
        """Type → distortion, of the chosen types; always with the clean image, so that a set stands by itself."""
        texts = self.texts()
        for name in self.types:
            if name not in texts and name != NONE:
                raise unknown("type", name, (NONE, *texts))
        chosen = [name for name in texts if not self.types or name in self.types]
        try:
            distortions = {NONE: parse("none()"), **{name: parse(texts[name]) for name in chosen}}
            if self.size:
                for name in chosen:
                    distortions[name].check_size(self.size, self.size)
        except ValueError as error:
            raise UserError(f"type '{name}' ({texts[name]}): {error}") from None
        return distortions


def expect_word(name: str, value: object, allowed: Iterable[str]) -> None:
    """Refuse a setting that is none of its words."""
    if value not in (words := tuple(allowed)):
        raise unknown(f"--{name.replace('_', '-')}", str(value), words)
