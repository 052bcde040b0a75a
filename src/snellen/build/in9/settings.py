"""How a set is built: every choice that changes a byte of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from snellen.data.canvas import Canvas, Interpolation
from snellen.errors import UserError, unknown

if TYPE_CHECKING:
    from snellen.distort.strips import Inpaint

MOST = {"quality": 100, "size": 10_000, "scale": 20_000, "segment_size": 10_000, "iterations": 1000, "tries": 1000,
        "seed": 2**63 - 1}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """Settings of a build, with the published rules as defaults, but for the filter, which is nearest neighbour there.

    Images are `size` pixels wide and high: the shorter side is scaled to `scale` (default 8/7 of the size: 256 for 224) by
    the filter `interpolation`, and the centre is cut out. Boxes may take up `largest` of the image and must keep `kept` of
    their area in the crop. GrabCut runs on the photo as it is, or with its shorter side scaled to `segment_size`, for
    `iterations`, and with other seeds up to `tries` times in all (the published loop has 11, but drops what the last one finds),
    until it finds `smallest` of the box. `sigma` (pixels) is
    the blur of bg_blurred. `fine` is (k, n): k sub-classes per class, in groups of n.
    """

    size: int = 224
    scale: int = 0
    interpolation: Interpolation = "bicubic"
    segment_size: int | None = None
    iterations: int = 5
    tries: int = 10
    largest: float = 0.9
    kept: float = 0.5
    smallest: float = 0.1
    inpaint: Inpaint = "tile"
    sigma: float = 8.0
    own: bool = True
    balance: bool = True
    all_images: bool = False
    fine: tuple[int, int] | None = None
    masks: str | None = None
    format: Literal["png", "jpeg"] = "png"
    quality: int = 95
    split: str = "val"
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"size": 8, "iterations": 1, "tries": 1, "quality": 1}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise UserError(f"expected --{name} of at least {low}, got {getattr(self, name)}")
        if self.segment_size is not None and self.segment_size < 16:
            raise UserError(f"expected --segment-size of at least 16, got {self.segment_size}")
        if self.scale and self.scale < self.size:
            raise UserError(f"expected --scale of at least the size {self.size}, got {self.scale}")
        for name, high in MOST.items():
            if (getattr(self, name) or 0) > high:
                raise UserError(f"expected --{name.replace('_', '-')} of at most {high:,}, got {getattr(self, name)}")
        if not 0 <= self.sigma <= 1000:
            raise UserError(f"expected --sigma from 0 to 1000 pixels, got {self.sigma:g}")
        if not self.split.strip(". ") or set(self.split) & set("/\\:?"):
            raise UserError(f"expected --split as the name of a folder, such as val or train, got '{self.split}'")
        for name, value, allowed in (
            ("inpaint", self.inpaint, ("tile", "telea", "ns")),
            ("format", self.format, ("png", "jpeg")),
            ("interpolation", self.interpolation, ("nearest", "bilinear", "bicubic", "lanczos")),
        ):
            if value not in allowed:
                raise unknown(name, value, allowed)

    @property
    def canvas(self) -> Canvas:
        """The rule by which a photo gets its size."""
        return Canvas(self.size, self.size, "crop", self.scale or round(self.size * 8 / 7), self.interpolation)


PUBLISHED: dict[str, Any] = {
    "size": 224, "scale": 256, "interpolation": "nearest", "segment_size": None, "iterations": 5, "tries": 10, "largest": 0.9,
    "kept": 0.5, "smallest": 0.1, "inpaint": "tile", "own": True, "balance": True, "masks": None,
}  # fmt: skip


def as_published(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with every choice that the paper or its code states; one that was chosen otherwise is refused.

    What neither states stays as it is: the blur's `sigma`, seed, split, format.
    """
    defaults = {one.name: one.default for one in fields(Settings)}
    for name, value in PUBLISHED.items():
        own = chosen.get(name, defaults[name])
        if own not in (value, defaults[name]):
            option = name.replace("_", "-")
            raise UserError(f"--as-published has a {option} of {value}, got --{option} {own}; leave one of the two out")
    return {**chosen, **PUBLISHED}


def read_fine(text: str | None) -> tuple[int, int] | None:
    """`16:4`: 16 sub-classes per class, in groups of 4."""
    if text is None:
        return None
    parts = text.split(":")
    if (
        len(parts) != 2
        or not all(re.fullmatch("[1-9][0-9]{0,5}", part) for part in parts)
        or int(parts[0]) % int(parts[1])
    ):
        raise UserError(f"expected --fine as k:n with k a multiple of n, such as 16:4, got '{text}'")
    return int(parts[0]), int(parts[1])
