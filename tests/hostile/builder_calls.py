"""What builds a set or an export of damaged files, or again into a damaged folder; as in `calls`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from snellen.files.remote.remote_path import RemotePath
from snellen.hashing import checksum

from .builders import build_set, cut_set
from .calls import Failed, corpus

_first: dict[Callable[[Path], object], dict[str, str]] = {}  # what each build made of the undamaged folder


def resumed(build: Callable[[Path], object]) -> Callable[[Path], object]:
    """Continues a stopped build in a damaged folder: what it makes must be what it makes of the undamaged one, which a reader is
    always given first."""

    def read(folder: Path) -> object:
        result = build(folder)
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != "settings.yaml"]
        made = {path.relative_to(folder).as_posix(): checksum(path.read_bytes()) for path in files}
        first = _first.setdefault(build, made)
        if differing := [name for name in sorted({*made, *first}) if made.get(name) != first.get(name)]:
            raise Failed(f"silently different: {differing[:3]}")
        return result

    return read


def building_again(folder: Path) -> object:
    return build_set(corpus(), folder)


def cutting(folder: Path) -> object:
    """A set cut out of damaged clips, or from damaged annotations of them."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as out:  # the folder itself may have another name by now
        return cut_set(folder, Path(out) / "set")


def rebuilding(folder: Path) -> object:
    """A damaged set in which the box of its first image was mended."""
    from snellen.build.in9 import rebuild

    first = (corpus() / "in9" / "curation.csv").read_text().splitlines()[1].partition(",")[0]
    with tempfile.TemporaryDirectory(dir=None if isinstance(folder, RemotePath) else folder.parent) as out:
        (Path(out) / "list.csv").write_text(f"id,decision,reason,x0,y0,x1,y1\n{first},accept,,1,2,9,8\n")
        return rebuild(str(folder), f"{out}/list.csv", Path(out) / "set", balance=False, workers=1)


def cutting_again(folder: Path) -> object:
    return cut_set(corpus() / "ovis", folder)


def level_table(folder: Path) -> object:
    from snellen.data.ovis.level_table import with_levels
    from snellen.data.ovis.listing import read_clips

    return with_levels(read_clips(corpus() / "ovis" / "annotations_test.json"), folder / "levels.csv")


def export_again(folder: Path) -> object:
    from snellen.data.phantom import export

    return export("phantom:test?size=16", "folder", folder, limit=6)
