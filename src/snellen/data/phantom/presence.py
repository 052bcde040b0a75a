"""Presence: the images of a world as a task of two classes, is there an object or only its scene?

`phantom:test?task=presence&object_size=0.2..0.3`. It stands for the hard hats of Marcu & Prügel-Bennett 2022, C.6: a
subject that may be small and anywhere in the image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from snellen.data.dataset import Dataset, Photos, Samples
from snellen.data.phantom.draw_list import SceneList
from snellen.data.phantom.layers import ROLES
from snellen.data.phantom.paint import paint
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.world import World
from snellen.errors import UserError
from snellen.hashing import key_of, pixel_checksums

CLASSES = ("absent", "present")
OF_THE_OBJECT = ("texture", "colour", "instance")  # columns that are empty where there is none


def dataset(world: World) -> Dataset:
    """The world as a dataset of the classes absent and present, with masks and boxes of what is present.

    A present image is the world's own, an absent one the same without its object, pixel for pixel. Of every shape that
    the world lists, every second image loses its object, so shape, scene and place tell nothing; `label_noise` swaps the
    two labels. Other things, which would be present too, are refused.
    """
    if world.clutter or world.occlusion:
        raise UserError("expected task=presence without clutter and occlusion, which show other things; leave them out")
    text = f"{world.text}&task=presence"
    return Dataset(
        text=text,
        classes=CLASSES,
        samples=samples(world),
        fingerprint=key_of(["phantom", world.version, text]),
        read=lambda positions: read(world, positions).apart(),
        read_together=lambda positions: read(world, positions),
        size=(world.size, world.size),
        chunk=64,
        facts=frozenset({"masks", "boxes"}),
    )


def present(recipe: SceneList) -> np.ndarray:
    """Which images keep their object, bool [B]: shapes come in turn, so whole rounds of them do or do not."""
    return recipe.clip // len(SHAPES) % 2 == 0


def samples(world: World) -> Samples:
    """The listing, in which `true_class` is absent or present and what there is to say of an absent object is left empty."""
    samples, recipe = world.samples(), world.recipe(np.arange(world.n))
    there = present(recipe)
    columns = dict(samples.columns)
    for name in OF_THE_OBJECT:
        columns[name] = np.where(there, columns[name], "")
    columns["object_size"] = np.where(there, columns["object_size"], 0.0)
    columns["true_class"] = np.array(CLASSES)[there.astype(int)]
    labels = (there ^ (recipe.label != recipe.true_class)).astype(np.int64)
    return replace(samples, labels=labels, columns=columns)


def read(world: World, positions: Sequence[int]) -> Photos:
    """The photos at some positions of the listing: whole ones, and scenes with an empty mask and no box."""
    recipe = world.recipe(positions)
    whole, scenes = paint(recipe, world), paint(recipe, world, tuple(role for role in ROLES if role != "object"))
    there = present(recipe)
    images = np.where(there[:, None, None, None], whole.images, scenes.images)
    boxes = [whole.boxes[row : row + int(count)].astype(float) for row, count in enumerate(there)]
    return Photos(images, pixel_checksums(images), boxes, {"mask": whole.masks & there[:, None, None]})
