"""`cue-conflict`: the shape of one class with the texture of another (after Geirhos et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from snellen.build.destination import Destination
from snellen.build.encode import encode_image, table
from snellen.build.phantom.chosen import fewest, portions
from snellen.build.phantom.folder import LISTING
from snellen.build.phantom.instances import CLASSES
from snellen.data.phantom.marks import write as marked
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.textures import TEXTURES
from snellen.data.phantom.truth import Truth, truth
from snellen.data.phantom.world import World
from snellen.errors import UserError, option

PLAIN = "plain"
GREY = 0x808080  # a packed colour; its mark says scene number len(SCENES), which there is not
TRUTH = {
    "SHAPE/SHAPEi-TEXTUREi.png": "the i-th object of class SHAPE with the texture of class TEXTURE, another one; the "
    "texture of class k of classes is texture k of textures. The i-th object keeps its place, size, turn and colours in "
    "all its textures",
    LISTING: "one row an image, which `manifest:` reads: path, id, label and shape (the class of the shape), texture "
    "(the class whose texture it is), pattern (that texture's name), sample (the object's id in the world)",
    "scene": "the background of all images, plain being grey (128 to 131)",
}


def some_pairs(world: World, limit: int | None) -> np.ndarray:
    """At most `limit` images, each as number · len(CLASSES) + texture: every image with every texture but its own."""
    if world.frames > 1:
        raise UserError(
            f"expected a world without clips, got frames={world.frames}; leave frames out of {option('world')}"
        )
    number, texture = np.divmod(np.arange(world.n * len(CLASSES)), len(CLASSES))
    pairs = np.flatnonzero(number % len(CLASSES) != texture)
    names = [file_name(pair) for pair in pairs.tolist()]
    return pairs[fewest(names, limit)]


def file_name(pair: int) -> str:
    """The published naming: `star/star3-ring3.png` is the third star with the texture of rings."""
    number, texture = divmod(pair, len(CLASSES))
    which, shape = number // len(CLASSES) + 1, CLASSES[number % len(CLASSES)]
    return f"{shape}/{shape}{which}-{CLASSES[texture]}{which}.png"


def write(world: World, images: np.ndarray, to: Destination) -> Iterator[int]:
    """Write the images and their listing; yields how many images each step has written."""
    ids = world.samples().ids
    rows = []
    for some in portions(images):
        numbers, textures = np.divmod(some, len(CLASSES))
        truths = conflicting(world, numbers, textures, to.facts["scene"])
        for row, pair in enumerate(some.tolist()):
            name = file_name(pair)
            if not to.has(name):
                to.write(name, encode_image(truths.images[row]))
            shape, texture = int(truths.true_class[row]), int(truths.texture[row])
            classes = {"label": CLASSES[shape], "shape": CLASSES[shape], "texture": CLASSES[texture]}
            facts = {"pattern": tuple(TEXTURES)[texture], "sample": ids[numbers[row]]}
            rows.append({"path": name, "id": name, **classes, **facts})
        yield len(some)
    to.write(LISTING, table(tuple(rows[0]), rows))


def conflicting(world: World, numbers: np.ndarray, textures: np.ndarray, scene: str = PLAIN) -> Truth:
    """The truth of some images of a world with other textures, int64 [B], on one scene; the plain one is in `images` only."""
    recipe = world.recipe(numbers)
    recipe = replace(recipe, objects=replace(recipe.objects, texture=np.asarray(textures, np.int64)))
    if scene != PLAIN:
        recipe = replace(recipe, scene=np.full_like(recipe.scene, tuple(SCENES).index(scene)))
    truths = truth(recipe, world, world.prefix)
    if scene == PLAIN:
        grey = marked(np.array([GREY], np.uint32), np.array([len(SCENES)])).astype("<u4").view(np.uint8)[:3]
        truths.images[truths.instance == 0] = grey
    return truths
