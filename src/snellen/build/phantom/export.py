"""The phantom world as files, in the formats other tools read, with its whole truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from snellen.build.counting import show_progress
from snellen.build.destination import Destination, encode_json
from snellen.build.phantom import coco, conflict, folder, ovis, voc
from snellen.build.phantom.chosen import some_clips, some_images
from snellen.data.phantom.reading import read_world
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES, class_tree
from snellen.data.phantom.textures import TEXTURES
from snellen.data.phantom.world import World
from snellen.errors import UserError, unknown
from snellen.files import expand_home


class Format(NamedTuple):
    """A way to write a world: the world by default, which images are chosen, how they are written, what truth means.

    `choose` maps a world and a limit to the images' numbers; `write` yields how many images each step has written.
    """

    world: str
    choose: Callable[[World, int | None], np.ndarray]
    write: Callable[[World, np.ndarray, Destination], Iterator[int]]
    truth: dict[str, str]


CROWDED = "size=128&object_size=0.3..0.6&clutter=0.3&occlusion=0.5"

FORMATS: dict[str, Format] = {
    "folder": Format("phantom:test", some_images, folder.write, folder.TRUTH),
    "voc": Format(f"phantom:test?{CROWDED}", some_images, voc.write, voc.TRUTH),
    "coco": Format(f"phantom:test?{CROWDED}", some_images, coco.write, coco.TRUTH),
    "ovis": Format(f"phantom:test?frames=10&{CROWDED}", some_clips, ovis.write, ovis.TRUTH),
    "cue-conflict": Format("phantom:test?n=60&size=224", conflict.some_pairs, conflict.write, conflict.TRUTH),
}


@dataclass(frozen=True)
class Exported:
    """An export: its folder, its format, its world in words and how many images it holds."""

    out: Path
    format: str
    world: str
    images: int

    @property
    def json(self) -> str:
        """The same as JSON."""
        return encode_json({**asdict(self), "out": str(self.out)}, indent=1).decode().rstrip()


def export(
    world: str | World | None,
    format: str,
    out: str | Path,
    *,
    limit: int | None = None,
    scene: str | None = None,
    quiet: bool = True,
) -> Exported:
    """Write a world, or the format's own default, into the folder `out` in one of FORMATS.

    `limit` writes at most so many images, chosen as `--limit` does everywhere (of clips, whole ones); `scene` names the
    background of cue conflicts, plain by default. The folder is there whole or not at all: a stopped export resumes,
    a finished one is left as it is, and any other folder that is not empty is refused.
    """
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    way = FORMATS[format]
    source = world if isinstance(world, World) else read_world(world or way.world)
    images = way.choose(source, limit)
    facts = {
        "schema": "snellen/phantom-export/1",
        "format": format,
        "world": source.text,
        "world_version": World.version,
        "limit": limit,
        "images": len(images),
        **_background(format, scene),
        "classes": list(SHAPES),
        "textures": list(TEXTURES),
        "scenes": list(SCENES),
        "tree": class_tree(),
        "truth": way.truth,
    }
    to = Destination(expand_home(out), facts)
    with to.writing() as missing:
        if missing:
            with show_progress(len(images), quiet) as advance:
                for count in way.write(source, images, to):
                    advance(count)
            to.finish()
    return Exported(to.out, format, source.text, len(images))


def _background(format: str, scene: str | None) -> dict[str, str]:
    """The background of cue conflicts, for the facts."""
    if format != "cue-conflict":
        if scene is not None:
            raise UserError(f"expected --scene only with --format cue-conflict, got it with '{format}'; leave it out")
        return {}
    scene = scene or conflict.PLAIN
    if scene not in (conflict.PLAIN, *SCENES):
        raise unknown("scene", scene, (conflict.PLAIN, *SCENES))
    return {"scene": scene}


__all__ = ["FORMATS", "Exported", "Format", "export"]
