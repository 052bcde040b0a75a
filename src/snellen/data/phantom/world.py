"""The phantom world: its listing, its images and their truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import parse_qsl

import numpy as np

from snellen.data.concept_maps import Concept, ConceptMaps
from snellen.data.dataset import Dataset, Photos, Samples
from snellen.data.phantom.dials import Dials, read_dials
from snellen.data.phantom.draw_list import SceneList, recipe
from snellen.data.phantom.listing import columns
from snellen.data.phantom.paint import PaintedImages, paint
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import PARTS, SHAPES, class_tree
from snellen.data.phantom.textures import TEXTURES
from snellen.data.phantom.truth import Truth, truth
from snellen.errors import UserError
from snellen.hashing import key_of, pixel_checksums

IMAGES = {"train": 4000, "test": 1000}  # where `n` does not say how many


@dataclass(frozen=True)
class World(Dials):
    """A split, `train` or `test`, of the phantom world under some dials.

    Splits and seeds share no draws, so they share nothing but the recipe. Worlds that differ in other dials share all
    draws, so an index shows the same object whatever the dials. With `frames` above 1, index i is frame i % frames of
    clip i // frames: one instance that moves, and clip c starts as image c of the same world without clips.
    """

    split: str = "train"
    version: ClassVar[int] = 3  # bumped by hand when pixels change; golden hashes guard it

    def __post_init__(self) -> None:
        if self.split not in ("train", "test"):
            raise UserError(f"expected phantom:train or phantom:test, got 'phantom:{self.split}'")
        super().__post_init__()

    @property
    def text(self) -> str:
        """The world in words, with every dial: `phantom:train?n=4000&size=64&…`."""
        return f"phantom:{self.split}?{self.written}"

    @property
    def prefix(self) -> str:
        """What the ids of its samples and instances start with."""
        return f"{self.split}-s{self.seed}"

    def recipe(self, indices: Sequence[int] | np.ndarray) -> SceneList:
        """What the images at `indices` (0 … n − 1) show, without rendering them."""
        indices = np.asarray(indices, np.int64)
        if len(indices) and not (indices.min() >= 0 and indices.max() < self.n):
            raise ValueError(f"expected indices in [0, {self.n - 1}], got {indices.min()} to {indices.max()}")
        return recipe(indices, self.split, self)

    def render(self, indices: Sequence[int] | np.ndarray) -> PaintedImages:
        """The images at `indices`, with masks and boxes of what is visible; each is the same in any batch."""
        return paint(self.recipe(indices), self)

    def truth(self, indices: Sequence[int] | np.ndarray) -> Truth:
        """All that is known of the images at `indices`: for calibration and export, slower than `render`."""
        return truth(self.recipe(indices), self, self.prefix)

    def read(self, positions: Sequence[int]) -> Photos:
        """The photos at some positions of the listing."""
        rendered = self.render(positions)
        return Photos(
            rendered.images,
            pixel_checksums(rendered.images),
            list(rendered.boxes.astype(float)[:, None, :]),
            {"mask": rendered.masks},
        )

    def samples(self) -> Samples:
        """The listing; the facts of its columns are described in listing.py."""
        plan = self.recipe(np.arange(self.n))
        clips = self.frames > 1
        ids = tuple(
            f"{self.prefix}/{clip:06d}-{frame:03d}" if clips else f"{self.prefix}/{clip:06d}"
            for clip, frame in zip(plan.clip.tolist(), plan.frame.tolist())
        )
        return Samples(ids, plan.label, columns(plan, self, self.prefix))

    def dataset(self) -> Dataset:
        """The world as a dataset with exact masks and boxes; no image is rendered before it is read."""
        return Dataset(
            text=self.text,
            classes=tuple(SHAPES),
            samples=self.samples(),
            fingerprint=key_of(["phantom", self.version, self.text]),
            read=lambda positions: self.read(positions).apart(),
            read_together=self.read,
            size=(self.size, self.size),
            tree=class_tree(),
            chunk=64,
            facts=frozenset({"masks", "boxes"}),
            concepts=self.concepts(),
        )

    def concepts(self) -> ConceptMaps:
        """What its pixels show: objects, their parts, and the materials of things, or the scene behind them."""
        names = [("object", name) for name in SHAPES] + [("part", name) for name in PARTS]
        names += [("material", name) for name in TEXTURES] + [("scene", name) for name in SCENES]
        offsets = np.cumsum([0, len(SHAPES), len(PARTS)])

        def read(positions: Sequence[int]) -> np.ndarray:
            truth = self.truth(positions)
            maps = np.stack([truth.object, truth.part, truth.material], 1).astype(np.int16)
            return np.where(maps > 0, maps + offsets[:, None, None], 0).astype(np.int16)

        return ConceptMaps(tuple(Concept(*name) for name in names), 3, read)


def build_world(split: str, options: Mapping[str, str]) -> World:
    """The split `train` (4000 images) or `test` (1000) of the world that the options dial; see Dials and World."""
    return World(split, **{"n": IMAGES.get(split, 1), **read_dials(options)})


def read_world(text: str) -> World:
    """The world of a data text such as `phantom:test?texture_bias=0.5`.

    >>> from snellen.data.phantom import read_world
    >>> world = read_world("phantom:test?n=24&size=32&background_bias=1")
    >>> world.n, world.background_bias, world.texture_bias
    (24, 1.0, 0.0)
    """
    scheme, _, rest = text.partition(":")
    if scheme != "phantom":
        raise UserError(f"expected a world as 'phantom:train?…' or 'phantom:test?…', got '{text}'")
    split, _, query = rest.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if query and not options:
        raise UserError(f"cannot read '?{query}' in '{text}'; write it as ?dial=value&other=value")
    return build_world(split, options)
