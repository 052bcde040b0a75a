"""`frames.csv`: instances in frames whose masks lie in files, one row per instance and frame, for data without any JSON.

Columns: `path` of the frame, `mask` of the object (white), `label`, and where known `level`, `video` (default the folder of the
frame), `frame` (its number in the video; default the order of the rows) and `instance` (default the order in the frame). Paths
are relative to the folder of the frames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import numpy as np

from snellen.data.dataset import Unreadable
from snellen.data.ovis.clips import Appearance, Clips, Frame
from snellen.data.ovis.levels import stated_level
from snellen.data.pixel_files import read_mask
from snellen.data.root import Root
from snellen.data.segmentation import rle
from snellen.errors import UserError
from snellen.files.table import Column, place_of, read_table

MOST_NUMBER = 2**53
SCHEMA = {
    "path": Column(required=True, filled=True),
    "mask": Column(required=True),
    "label": Column(required=True, filled=True),
    "level": Column(),
    "video": Column(),
    "frame": Column("int", least=0, most=MOST_NUMBER),
    "instance": Column("int", least=0, most=MOST_NUMBER),
}


def read_frame_table(file: Path, root: Root) -> Clips:
    """The instances that a table lists; their masks, below `root`, are read now."""
    table = read_table(file, SCHEMA, "table of frames")
    if table.empty:
        raise UserError(f"{file} lists no frames")
    rows = [{str(name): cell for name, cell in row.items()} for row in table.to_dict("records")]
    frames = _frames(rows, file)
    position = {frame.file: number for number, frame in enumerate(frames)}
    seen: Counter[str] = Counter()
    appearances: dict[tuple[str, int], Appearance] = {}
    for row, cells in enumerate(rows):
        path, place = cells["path"], place_of(file, row)
        seen[path] += 1
        instance = int(_known(cells, "instance", seen[path]))
        if (path, instance) in appearances:
            raise UserError(f"{place}: frame '{path}' has the instance {instance} in a line before; give each its own")
        bare = Appearance(position[path], instance, cells["label"])
        appearances[path, instance] = _appearance(bare, cells, root, place)
    classes = tuple(dict.fromkeys(cells["label"] for cells in rows))
    return Clips(classes, frames, sorted(appearances.values(), key=lambda appearance: appearance.frame), ())


def _frames(rows: list[dict[str, Any]], file: Path) -> list[Frame]:
    """The frames, video by video."""
    videos: dict[str, dict[str, Frame]] = {}
    owner: dict[str, str] = {}
    for row, cells in enumerate(rows):
        path = cells["path"]
        video = cells.get("video") or PurePosixPath(path).parent.as_posix().removeprefix(".") or path
        if owner.setdefault(path, video) != video:
            raise UserError(
                f"{place_of(file, row)}: frame '{path}' is of another video in a line before: '{owner[path]}'"
            )
        own = videos.setdefault(video, {})
        number = int(_known(cells, "frame", len(own)))
        own.setdefault(path, Frame(path, video, list(videos).index(video), number, None))
    return [frame for own in videos.values() for frame in own.values()]


def _appearance(bare: Appearance, cells: Mapping[str, Any], root: Root, place: str) -> Appearance:
    """The instance of a row, with its mask and the box around it, or with what is wrong."""
    if not cells["mask"]:
        return replace(bare, reason="no mask", detail="it names no file of a mask")
    mask = read_mask(root.find(cells["mask"], place), None)
    if isinstance(mask, Unreadable):
        return replace(bare, reason="broken mask", detail=mask.reason)
    ys, xs = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not len(ys):
        return replace(bare, reason="empty mask", detail="its mask has no pixels")
    box = (float(xs[0]), float(ys[0]), float(xs[-1] + 1 - xs[0]), float(ys[-1] + 1 - ys[0]))
    bare = replace(bare, box=box, visible=msgspec.json.encode(rle(mask)))
    stated = stated_level(cells.get("level") or None)
    if stated is None:
        return replace(bare, reason="unknown level", detail=f"'{cells['level'][:60]}' is none of the known levels")
    return replace(bare, level=stated)


def _known(cells: Mapping[str, Any], name: str, otherwise: int) -> float:
    value = cells.get(name)
    return otherwise if value is None or value != value else float(value)
