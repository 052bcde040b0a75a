"""How a set is built: every choice that changes a byte of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from snellen.data.ovis.crop import MARGIN
from snellen.errors import UserError, unknown

WORDS = {
    "split": ("video", "class", "class-level"),
    "levels": ("measured", "stated"),
    "naming": ("instance", "published"),
    "format": ("jpeg", "png"),
}
BOUNDS: dict[str, tuple[float, float]] = {
    "share": (0.05, 0.95),
    "margin": (0, 1000),
    "size": (0, 4096),
    "tolerance": (0, 0.5),
    "min_clear": (0, 1_000_000),
    "quality": (1, 100),
}
OVIS = (
    *("person", "bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "poultry"),
    *("giant_panda", "lizard", "parrot", "monkey", "rabbit", "tiger", "fish", "turtle", "bicycle", "motorcycle"),
    *("airplane", "boat", "vehical"),  # as OVIS writes it
)
DROPPED = ("boat", "vehical")  # too few of them are not occluded


@dataclass(frozen=True)
class Settings:
    """Settings of a build, with the published rules as defaults where they hold up.

    `classes` are those taken, by default all (of OVIS the published 23), less `without`. `split` is by video, by class (one cut
    per class in the order of the videos) or by class and level, as the published code does; `share` of the images goes to train.
    Levels are `measured` where full and visible masks are known, else, and always with `stated`, those of the annotations; up to
    the hidden share `tolerance` an object counts as not occluded. Crops have `margin` pixels on every side; with `pad` they stay
    square at the frame's border, filled with black; `size` scales them to so many pixels both ways, 0 leaves them. `naming` puts
    the instance into file names or, as published, not: then the last of several instances of a class and level in a frame
    stays. Each class must have `min_clear` images of level 0.
    """

    classes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    split: Literal["video", "class", "class-level"] = "video"
    share: float = 0.7
    levels: Literal["measured", "stated"] = "measured"
    tolerance: float = 1e-4
    margin: int = MARGIN
    pad: bool = False
    size: int = 0
    min_clear: int = 1
    naming: Literal["instance", "published"] = "instance"
    format: Literal["jpeg", "png"] = "jpeg"
    quality: int = 95

    def __post_init__(self) -> None:
        for name, allowed in WORDS.items():
            if getattr(self, name) not in allowed:
                raise unknown(name, str(getattr(self, name)), allowed)
        for name, (low, high) in BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                option = name.replace("_", "-")
                raise UserError(f"expected --{option} from {low:g} to {high:,g}, got {getattr(self, name)}")


def class_folder(name: str) -> str:
    """The name of a class in the set, and of its folder: lower case, `_` for what file names should not hold."""
    return re.sub(r"[^a-z0-9._+-]+", "_", name.lower()).strip("._") or "class"


def class_folders(known: Sequence[str]) -> dict[str, str]:
    """Class → its name in the set; no two may have the same."""
    folder = {name: class_folder(name) for name in known}
    repeated = next((name for name in known if sum(one == folder[name] for one in folder.values()) > 1), None)
    if repeated is not None:
        raise UserError(f"two classes would have the folder '{folder[repeated]}'; rename one of them")
    return folder


def chosen_classes(known: Sequence[str], settings: Settings) -> dict[str, str]:
    """Class in the file → class in the set, of the classes that are taken, in the order of the file."""
    folder = class_folders(known)
    for option, names in (("--classes", settings.classes), ("--without", settings.without)):
        for name in names:
            if class_folder(name) not in folder.values():
                raise unknown(f"class in {option}", name, folder.values())
    wanted = {class_folder(name) for name in settings.classes}
    if not wanted:
        is_ovis = set(OVIS) == set(folder.values())
        wanted = set(folder.values()) - set(DROPPED if is_ovis else ())
    wanted -= {class_folder(name) for name in settings.without}
    if not wanted:
        raise UserError("no class is left; change --classes or --without")
    return {name: short for name, short in folder.items() if short in wanted}
