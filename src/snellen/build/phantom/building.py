"""The phantom world as files, in the formats other tools read, with its whole truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from snellen.build.destination import Destination
from snellen.build.phantom import coco, conflict, folder, ovis, voc
from snellen.build.phantom.chosen import some_clips, some_images
from snellen.build.phantom.request import PhantomRequest
from snellen.build.runner import Builder, Built, Site, show_progress
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES, class_tree
from snellen.data.phantom.textures import TEXTURES
from snellen.data.phantom.world import World, read_world
from snellen.errors import UserError, choice, option, unknown


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
class Exported(Built):
    """An export: its folder, its format, its world in words and how many images it holds."""

    format: str
    world: str
    images: int

    @property
    def lines(self) -> list[str]:
        return [f"{self.images:,} images: {self.out}"]


class PhantomExport(Builder[Exported]):
    """A world and which of its images are written, in a format."""

    facts_file = "phantom.json"
    whole = "export of the phantom world"
    identity = ("format", "world")
    built = Exported

    def __init__(self, request: PhantomRequest) -> None:
        self.request: PhantomRequest = request
        format = str(request.format)
        if format not in FORMATS:
            raise unknown("format", format, FORMATS)
        self.way = FORMATS[format]
        self.world = request.world if isinstance(request.world, World) else read_world(request.world or self.way.world)
        self.images = self.way.choose(self.world, request.limit)
        self.facts = {
            "schema": "snellen/phantom-export/1",
            "format": format,
            "world": self.world.text,
            "world_version": World.version,
            "limit": request.limit,
            "images": len(self.images),
            **_background(format, request.scene),
            "classes": list(SHAPES),
            "textures": list(TEXTURES),
            "scenes": list(SCENES),
            "tree": class_tree(),
            "truth": self.way.truth,
        }

    def make(self, site: Site) -> None:
        with show_progress(len(self.images), site.quiet) as advance:
            for count in self.way.write(self.world, self.images, site.to):
                advance(count)

    def result(self, out: Path) -> Exported:
        return Exported(out, self.facts["format"], self.world.text, len(self.images))


def _background(format: str, scene: str | None) -> dict[str, str]:
    """The background of cue conflicts, for the facts."""
    if format != "cue-conflict":
        if scene is not None:
            wanted = choice("format", "cue-conflict")
            raise UserError(f"expected {option('scene')} only with {wanted}, got it with '{format}'; leave it out")
        return {}
    scene = scene or conflict.PLAIN
    if scene not in (conflict.PLAIN, *SCENES):
        raise unknown("scene", scene, (conflict.PLAIN, *SCENES))
    return {"scene": scene}
