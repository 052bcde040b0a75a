"""What builds a set or an export of damaged files, or again into a damaged folder; as in `calls`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .builders import build_set, cut_set
from .calls import corpus


def building_again(folder: Path) -> object:
    return build_set(corpus(), folder)


def cutting(folder: Path) -> object:
    """A set cut out of damaged clips, or from damaged annotations of them."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as out:  # the folder itself may have another name by now
        return cut_set(folder, Path(out) / "set")


def cutting_again(folder: Path) -> object:
    return cut_set(corpus() / "ovis", folder)


def level_table(folder: Path) -> object:
    from snellen.data.ovis.level_table import with_levels
    from snellen.data.ovis.listing import read_clips

    return with_levels(read_clips(corpus() / "ovis" / "annotations_test.json"), folder / "levels.csv")


def export_again(folder: Path) -> object:
    from snellen.data.phantom import export

    return export("phantom:test?size=16", "folder", folder, limit=6)
