"""Frames and the appearances of instances in them, whatever file they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from snellen.data.ovis.levels import UNKNOWN
from snellen.data.ovis.schema import BoxNumbers
from snellen.hashing import checksum

NOTHING = b""
CROWD = "crowd"


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame: its file, its video (`video` for people, `order` the number that file names carry), its place in that video from
    0, and (width, height) in pixels where stated."""

    file: str
    video: str
    order: int
    number: int
    size: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Appearance:
    """An instance in a frame: the frame's position in the listing, the annotation's id, class, box [x, y, width, height],
    stated level (UNKNOWN for none) and outlines of the visible and of all pixels as JSON (empty where not known).

    `reason` says, with `detail`, why it cannot be used.
    """

    frame: int
    instance: int
    category: str
    box: BoxNumbers = (0, 0, 0, 0)
    level: int = UNKNOWN
    visible: bytes = NOTHING
    full: bytes = NOTHING
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Stray:
    """An annotation that belongs to nothing: its id, its class where that is known, and what is wrong."""

    instance: int
    category: str
    reason: str
    detail: str


@dataclass(frozen=True)
class Clips:
    """A file of annotations: frames, video by video; appearances, frame by frame; class names in the order of their ids."""

    classes: tuple[str, ...]
    frames: Sequence[Frame]
    appearances: Sequence[Appearance]
    strays: Sequence[Stray]


def outlines_checksum(clips: Clips) -> str:
    """A checksum of all masks, for annotations whose masks are in other files."""
    return checksum(b"\n".join(appearance.visible for appearance in clips.appearances))
