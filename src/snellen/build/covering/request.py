"""How images are covered: the settings of both sets once, for `snellen build`, settings files and Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from snellen.build.request import MOST_PIXELS, MOST_SEED, MOST_SHARPNESS, CrewRequest, DataLike
from snellen.errors import UserError, option, unknown
from snellen.request import setting

if TYPE_CHECKING:
    from snellen.build.clarity import Clarity
    from snellen.data.canvas import Canvas
    from snellen.distort import Distortion

NONE = "none"
SMALLEST, LARGEST = 8, 4096  # pixels
outside_setting = partial(setting, "what to do beyond these: drop the image, or redraw the occluder")


@dataclass(frozen=True, kw_only=True)
class CoverRequest(CrewRequest, ABC):
    """The settings that both sets have; images are put on a canvas as for a model with that canvas."""

    set_name: ClassVar[str]
    elsewhere: ClassVar[tuple[str, ...]] = ("data", "train", "limit")

    data: DataLike | None = setting(
        "images to test with; they need masks: manifest:…, coco:…, phantom:…", metavar="DATA"
    )
    train: DataLike | None = setting("images to train with, covered in the same way", metavar="DATA")
    limit: int | None = setting("take at most N images of either side", at_least=1, at_most=10**9)
    size: int = setting(
        "width and height of the images in pixels; 0 leaves them as they are", 224, at_least=0, at_most=LARGEST
    )
    fit: Literal["squash", "crop", "pad"] = setting("how an image gets this size: squash, crop or pad", "squash")
    interpolation: Literal["nearest", "bilinear", "bicubic", "lanczos", "box", "hamming"] = setting(
        "filter of the scaling", "bilinear"
    )
    types: tuple[str, ...] = setting(
        "types of occluders, separated by commas; default all", (), commas=True, metavar="TYPE,…"
    )
    seed: int = setting("seed of all draws, as of an audit", 0, at_least=0, at_most=MOST_SEED)
    least: float = setting("least share of the object that is hidden", 0.05, at_least=0, at_most=1)
    most: float = setting("greatest share of the object that is hidden", 0.95, at_least=0, at_most=1)
    outside: Literal["redraw", "drop"] = outside_setting("redraw")
    min_pixels: float = setting(
        "leave out images of no more pixels; published 10000", 0.0, at_least=0, at_most=MOST_PIXELS
    )
    min_sharpness: float = setting(
        "leave out images with no greater variance of the Laplacian; published 20",
        0.0,
        at_least=0,
        at_most=MOST_SHARPNESS,
    )
    resized: bool = setting(
        "measure the sharpness at this size, or on the image as it is", False, flag="--resized/--native"
    )
    occluded: bool = setting("also cover images whose level says that they are occluded", False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data is None and self.train is None:
            raise UserError(f"expected images to cover: {option('data')}, {option('train')} or both")
        if self.least > self.most:
            raise UserError(
                f"expected {option('least')} no greater than {option('most')}, got {self.least:g} and {self.most:g}"
            )
        if 0 < self.size < SMALLEST:
            raise UserError(
                f"expected {option('size')} from {SMALLEST} to {LARGEST:,}, or 0 for each image's own, got {self.size}"
            )

    @property
    def clarity(self) -> Clarity:
        """How clear an image must be."""
        from snellen.build.clarity import Clarity

        return Clarity(self.min_pixels, self.min_sharpness)

    @property
    def canvas(self) -> Canvas | None:
        """The canvas of all images; None where each stays as it is."""
        from snellen.data.canvas import Canvas

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
        from snellen.distort import parse

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
