"""How crops of instances are made: every setting once, for `snellen build iruo`, its settings files and Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from snellen.build.request import CrewRequest
from snellen.request import setting


@dataclass(frozen=True, kw_only=True)
class IruoRequest(CrewRequest):
    """The settings of a set of crops, with the published rules as defaults where they hold up."""

    elsewhere: ClassVar[tuple[str, ...]] = ("annotations", "frames", "level_table")

    annotations: str | None = setting(
        "JSON of OVIS, YouTube-VIS or COCO, or a CSV file of frames, masks and labels", metavar="FILE", required=True
    )
    frames: str | None = setting("folder of the frames; default one beside the annotations", metavar="DIR")
    classes: tuple[str, ...] = setting(
        "classes, separated by commas; default all, of OVIS the published 23", (), commas=True, metavar="CLASS,…"
    )
    without: tuple[str, ...] = setting("classes to leave out, separated by commas", (), commas=True, metavar="CLASS,…")
    split: Literal["video", "class", "class-level"] = setting(
        "video (none in both sets), class (one cut per class) or class-level (as published)", "video"
    )
    share: float = setting("share of the images for training", 0.7, at_least=0.05, at_most=0.95)
    levels: Literal["measured", "stated"] = setting(
        "measured (from full and visible masks, where known) or stated (by the annotations)", "measured"
    )
    level_table: str | None = setting(
        "CSV file of levels (path, video, frame, instance; level), stated instead", metavar="FILE"
    )
    tolerance: float = setting("hidden share up to which an object is not occluded", 1e-4, at_least=0, at_most=0.5)
    margin: int = setting("pixels around the object on every side", 20, at_least=0, at_most=1000)
    pad: bool = setting("square crops at the frame's border, filled with black", False)
    size: int = setting("scale crops to this width and height; default their own size", 0, at_least=0, at_most=4096)
    min_clear: int = setting("images that each class must have at level 0", 1, at_least=0, at_most=10**6)
    naming: Literal["instance", "published"] = setting(
        "instance (its id in the file name) or published (the last one in a frame stays)", "instance"
    )
    format: Literal["jpeg", "png"] = setting("jpeg or png", "jpeg")
    quality: int = setting("quality of JPEG files", 95, at_least=1, at_most=100)
