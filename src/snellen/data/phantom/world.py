"""The phantom world: its dials, its listing and its images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from snellen.data.dataset import Dataset, Photos, Samples
from snellen.data.phantom.draws import Draws
from snellen.data.phantom.fixed import ONE
from snellen.data.phantom.paint import Rendered, paint
from snellen.data.phantom.recipe import Recipe, recipe
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES, class_tree
from snellen.data.phantom.textures import TEXTURES
from snellen.errors import UserError
from snellen.hashing import key_of, pixel_checksums


class Dial(NamedTuple):
    """A setting of the world: a whole number or a share, with its least and greatest value."""

    kind: type[int] | type[float]
    low: int
    high: int


DIALS: dict[str, Dial] = {
    "n": Dial(int, 1, 10_000_000),
    "size": Dial(int, 16, 512),
    "background_bias": Dial(float, 0, 1),
    "texture_bias": Dial(float, 0, 1),
    "seed": Dial(int, 0, 2**63 - 1),
}


@dataclass(frozen=True)
class World:
    """A split, `train` or `test`, of the phantom world.

    `n` is how many images it lists, `size` their side in pixels. `background_bias` and `texture_bias`, 0 to 1, are how
    often an image gets the scene or texture of its class's own number; else it gets any, uniformly. Splits and seeds
    share no draws; worlds that differ in other dials share all, so an index shows the same object whatever the dials.
    """

    split: str = "train"
    n: int = 4000
    size: int = 64
    background_bias: float = 0.0
    texture_bias: float = 0.0
    seed: int = 0
    version: ClassVar[int] = 1  # bumped by hand when pixels change; golden hashes guard it

    def __post_init__(self) -> None:
        if self.split not in ("train", "test"):
            raise UserError(f"expected phantom:train or phantom:test, got 'phantom:{self.split}'")
        for name, dial in DIALS.items():
            value = getattr(self, name)
            if not dial.low <= value <= dial.high:
                raise UserError(f"expected {name} in [{dial.low}, {dial.high}], got {value}")

    @property
    def text(self) -> str:
        """The world in words, with every dial: `phantom:train?n=4000&size=64&…`."""
        dials = "&".join(f"{name}={dial.kind(getattr(self, name))}" for name, dial in DIALS.items())
        return f"phantom:{self.split}?{dials}"

    def recipe(self, indices: np.ndarray) -> Recipe:
        """What the images at `indices` show, without rendering them."""
        return recipe(indices, Draws.of(self.seed, self.split, indices), self.background_bias, self.texture_bias)

    def render(self, indices: Sequence[int] | np.ndarray) -> Rendered:
        """The images at `indices` (0 … n − 1), with masks and boxes; each is the same in any batch."""
        indices = np.asarray(indices, np.int64)
        if len(indices) and not (indices.min() >= 0 and indices.max() < self.n):
            raise ValueError(f"expected indices in [0, {self.n - 1}], got {indices.min()} to {indices.max()}")
        return paint(self.recipe(indices), self.size)

    def read(self, positions: Sequence[int]) -> Photos:
        """The photos at some positions of the listing."""
        made = self.render(positions)
        return Photos(
            made.images, pixel_checksums(made.images), list(made.boxes.astype(float)[:, None, :]), {"mask": made.masks}
        )

    def samples(self) -> Samples:
        """The listing; `object_size` is the diameter of the circle around the object as a share of the image side."""
        made = self.recipe(np.arange(self.n))
        columns = {
            "texture": np.array(list(TEXTURES))[made.texture],
            "scene": np.array(list(SCENES))[made.scene],
            "object_size": made.diameter / ONE,
        }
        ids = tuple(f"{self.split}-s{self.seed}/{index:06d}" for index in range(self.n))
        return Samples(ids, made.label, columns)

    def dataset(self) -> Dataset:
        """The world as a dataset with exact masks and boxes; nothing is rendered before it is read."""
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
        )
