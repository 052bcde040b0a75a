"""How variants are built: every setting once, for `snellen build in9`, its settings files and Python."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from snellen.build.request import MOST_SEED, CrewRequest, DataLike
from snellen.errors import UserError, choice, option
from snellen.request import setting, settings_of

if TYPE_CHECKING:
    from snellen.data.canvas import Canvas

    FineLike = str | tuple[int, int]
else:
    FineLike = object

PUBLISHED: dict[str, Any] = {
    "size": 224, "scale": 256, "interpolation": "nearest", "segment_size": None, "iterations": 5, "tries": 10, "largest": 0.9,
    "kept": 0.5, "smallest": 0.1, "inpaint": "tile", "own": True, "balance": True, "masks": None,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class In9Request(CrewRequest):
    """The settings of a set of variants, with the published rules as defaults, but for the filter, which is nearest neighbour
    there. (The published loop of GrabCut has 11 tries, but drops what the last one finds.)"""

    elsewhere: ClassVar[tuple[str, ...]] = ("data", "classes", "limit", "curation", "published")

    data: DataLike | None = setting(
        "images with boxes: voc:…, coco:…, boxes:file.csv, …", metavar="DATA", required=True
    )
    classes: str | None = setting(
        "nine, all, or a CSV file (class, group); default nine where the data have all of them", metavar="nine|all|FILE"
    )
    size: int = setting("width and height of the images in pixels", 224, at_least=8, at_most=10_000)
    scale: int = setting(
        "scale the shorter side to this before the crop; default 8/7 of size", 0, at_least=0, at_most=20_000
    )
    interpolation: Literal["nearest", "bilinear", "bicubic", "lanczos"] = setting(
        "filter of the scaling; nearest is as published", "bicubic"
    )
    segment_size: int | None = setting(
        "segment with the shorter side scaled to this; 256 for small images", at_least=16, at_most=10_000
    )
    iterations: int = setting("iterations of GrabCut", 5, at_least=1, at_most=1000)
    tries: int = setting("times that GrabCut is tried, each with another seed", 10, at_least=1, at_most=1000)
    largest: float = setting("share of the image that a box may take up", 0.9, at_least=0, at_most=1)
    kept: float = setting("share of a box that must be in the crop", 0.5, at_least=0, at_most=1)
    smallest: float = setting("share of the box that the object's mask must fill", 0.1, at_least=0, at_most=1)
    inpaint: Literal["tile", "telea", "ns"] = setting("how boxes are filled: tile (as published), telea or ns", "tile")
    sigma: float = setting("blur of bg_blurred in pixels", 8.0, at_least=0, at_most=1000)
    own: bool = setting("an image may get its own background in mixed_same", True)
    balance: bool = setting("cut all classes to the smallest", True)
    all_images: bool = setting("originals only, boxed or not, as IN-9L", False)
    fine: FineLike | None = setting("k:n, k sub-classes per class in groups of n, as IN-9LB 16:4", metavar="K:N")
    masks: str | None = setting(
        "instead of GrabCut: data, a folder of masks, or python:file.py:factory", metavar="data|DIR|python:…"
    )
    format: Literal["png", "jpeg"] = setting("png or jpeg", "png")
    quality: int = setting("quality of JPEG files", 95, at_least=1, at_most=100)
    split: str = setting("name of the split's folder", "val")
    seed: int = setting("seed of GrabCut, of backgrounds and of balancing", 0, at_most=MOST_SEED)
    curation: str | None = setting("a CSV file (id, decision, reason) of what to leave out", metavar="FILE")
    limit: int | None = setting("judge at most N images", at_least=1, at_most=10**9)
    published: bool = setting(
        "every choice as in Xiao et al. 2021, nearest-neighbour scaling among them", False, flag="--as-published"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.published:
            self._choose_as_published()
        if self.scale and self.scale < self.size:
            raise UserError(f"expected {option('scale')} of at least the size {self.size}, got {self.scale}")
        if not self.split.strip(". ") or set(self.split) & set("/\\:?"):
            raise UserError(
                f"expected {option('split')} as the name of a folder, such as val or train, got '{self.split}'"
            )
        if self.fine is not None:
            object.__setattr__(self, "fine", ":".join(map(str, read_fine(self.fine))))

    def _choose_as_published(self) -> None:
        """Make every choice that the paper or its code states; one that was chosen otherwise is refused.

        What neither states stays as it is: the blur's `sigma`, seed, split, format.
        """
        defaults = {item.name: item.default for item in settings_of(In9Request)}
        for name, value in PUBLISHED.items():
            own = getattr(self, name)
            if own not in (value, defaults[name]):
                whole = option("published", "--as-published")
                raise UserError(f"{whole} has a {name} of {value}, got {choice(name, own)}; leave one of the two out")
            object.__setattr__(self, name, value)

    def choices(self) -> dict[str, Any]:
        return {**super().choices(), "fine": list(self.sub_classes) if self.sub_classes else None}

    @property
    def sub_classes(self) -> tuple[int, int] | None:
        """(k, n): k sub-classes per class, in groups of n."""
        return None if self.fine is None else read_fine(self.fine)

    @property
    def canvas(self) -> Canvas:
        """The rule by which a photo gets its size: the shorter side is scaled, and the centre cut out."""
        from snellen.data.canvas import Canvas

        return Canvas(self.size, self.size, "crop", self.scale or round(self.size * 8 / 7), self.interpolation)


@dataclass(frozen=True, kw_only=True)
class RebuildRequest(CrewRequest):
    """The settings of a set made of a built one and a list of people's decisions."""

    elsewhere: ClassVar[tuple[str, ...]] = ("data", "curation", "balance")

    data: str | None = setting("folder that build in9 has written", metavar="DIR", required=True)
    curation: str | None = setting(
        "a CSV file (id, decision, reason, x0, y0, x1, y1, mask) of what to leave out and what to change",
        metavar="FILE",
        required=True,
    )
    balance: bool = setting("cut all classes to the smallest again, where the set was built so", True)


def read_fine(fine: FineLike) -> tuple[int, int]:
    """`16:4` or (16, 4): 16 sub-classes per class, in groups of 4."""
    text = ":".join(map(str, fine)) if isinstance(fine, tuple | list) else str(fine)
    match = re.fullmatch("([1-9][0-9]{0,5}):([1-9][0-9]{0,5})", text)
    if match is None or int(match[1]) % int(match[2]):
        raise UserError(f"expected {option('fine')} as k:n with k a multiple of n, such as 16:4, got '{text}'")
    return int(match[1]), int(match[2])
