"""The whole truth of images: every thing in them, pixel by pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.phantom.basic import colour_terms
from snellen.data.phantom.colours import TONES
from snellen.data.phantom.dials import Dials
from snellen.data.phantom.grids import silhouette_cells
from snellen.data.phantom.paint import ROLES, Picture, colour, compose, cover, picture, tight_boxes
from snellen.data.phantom.recipe import Recipe
from snellen.data.phantom.shapes import parts
from snellen.data.phantom.textures import TEXTURES


@dataclass(frozen=True)
class Thing:
    """A thing in an image: what it is, all of it and what is visible of it, bool [S, S] each.

    `shape` and `texture` are positions in SHAPES and TEXTURES; the role is 'object', 'clutter' or 'occluder'.
    """

    instance_id: str
    role: str
    shape: int
    texture: int
    full: np.ndarray
    visible: np.ndarray


@dataclass(frozen=True)
class Truth:
    """All that is known of some images; B images of S pixels square.

    `images` uint8 [B, S, S, 3]; `scene` is the image without the object and `alone` the whole object on black.
    `full` and `visible` bool [B, S, S] are the object's masks, `full_boxes` and `boxes` int64 [B, 4] theirs.
    Maps uint8 [B, S, S] of what each pixel shows: `instance` 0 scene, 1 the object, 2 … the other things in the order
    of `things`; `object` class + 1, 0 scene; `part` number in PARTS, 0 scene; `material` texture + 1 on things,
    len(TEXTURES) + 1 + scene on the scene; `colour` position in COLOURS + 1. Then, one an image: the `label` given, the
    `true_class` shown, `texture`, `scene_class`, the share `hidden` = 1 − visible / full pixels in float64,
    `instance_id`, `clip`, `frame`, and `things`, the object first, then from back to front.
    """

    images: np.ndarray
    scene: np.ndarray
    alone: np.ndarray
    full: np.ndarray
    visible: np.ndarray
    boxes: np.ndarray
    full_boxes: np.ndarray
    instance: np.ndarray
    object: np.ndarray
    part: np.ndarray
    material: np.ndarray
    colour: np.ndarray
    label: np.ndarray
    true_class: np.ndarray
    texture: np.ndarray
    scene_class: np.ndarray
    hidden: np.ndarray
    instance_id: list[str]
    clip: np.ndarray
    frame: np.ndarray
    things: list[list[Thing]]


def truth(made: Recipe, dials: Dials, prefix: str) -> Truth:
    """The truth of a recipe; instance ids start with `prefix`."""
    drawn = picture(made, dials)
    count, size = len(drawn), dials.size
    images, scene = np.empty((2, count, size, size, 3), np.uint8)
    alone = np.zeros_like(images)
    cells = np.empty((count, size, size), np.intp)
    for part in drawn.blocks():
        cells[part] = compose(drawn, part).cells
        colour(images[part], cells[part], drawn.colours)
        colour(scene[part], compose(drawn, part, with_object=False).cells, drawn.colours)
        black = np.full_like(cells[part], -1)
        inside = cover(black, drawn.layers[drawn.main], part)
        colour(alone[part], np.where(inside, black, 0), drawn.colours)
        alone[part][~inside] = 0
    owner = np.maximum(cells // TONES - count, -2) // 2  # the thing that each pixel shows, −1 the scene
    things, part_map = whole_things(drawn, owner, prefix)
    full, visible = (
        np.stack([getattr(each[0], name) for each in things]) if things else np.empty((0, size, size), bool)
        for name in ("full", "visible")
    )
    kinds = drawn.things
    material = np.where(owner < 0, len(TEXTURES) + 1 + made.scene[:, None, None], kinds.texture[owner] + 1)
    terms = colour_terms(drawn.colours.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3])
    return Truth(
        images=images,
        scene=scene,
        alone=alone,
        full=full,
        visible=visible,
        boxes=tight_boxes(visible),
        full_boxes=tight_boxes(full),
        instance=np.where(owner < 0, 0, numbers(drawn)[owner]).astype(np.uint8),
        object=np.where(owner < 0, 0, kinds.shape[owner] + 1).astype(np.uint8),
        part=part_map,
        material=material.astype(np.uint8),
        colour=terms.take(cells),
        label=made.label,
        true_class=made.true_class,
        texture=made.objects.texture,
        scene_class=made.scene,
        hidden=1 - visible.sum(axis=(1, 2)) / full.sum(axis=(1, 2)),
        instance_id=[each[0].instance_id for each in things],
        clip=made.clip,
        frame=made.frame,
        things=things,
    )


def numbers(drawn: Picture) -> np.ndarray:
    """The number of each thing within its image, from 1, int64 [T]: the object, then from back to front."""
    order = np.argsort(drawn.things.image, kind="stable")
    image = drawn.things.image[order]
    number = np.empty_like(order)
    number[order] = np.arange(len(order)) - np.searchsorted(image, image) + 1
    return number


def whole_things(drawn: Picture, owner: np.ndarray, prefix: str) -> tuple[list[list[Thing]], np.ndarray]:
    """The things of each image, and the map of the parts that are visible, uint8 [B, S, S]."""
    found: list[list[Thing]] = [[] for _ in range(len(drawn))]
    part_map = np.zeros(owner.shape, np.uint8)
    of_class = parts().reshape(-1)
    main_first = (drawn.layers[drawn.main], *drawn.layers[: drawn.main], *drawn.layers[drawn.main + 1 :])
    for layer in main_first:
        for row, image in enumerate(layer.things.image):
            one = slice(row, row + 1)
            place = np.ix_(layer.window.rows(one)[0], layer.window.columns(one)[0])
            full, part = np.zeros(owner.shape[1:], bool), np.zeros(owner.shape[1:], np.uint8)
            full[place] = layer.cells(one)[0][0]
            part[place] = of_class.take(silhouette_cells(layer.shape, one)[0])
            number = (layer.ramp[row] - len(drawn)) // 2
            visible = owner[image] == number
            part_map[image][visible] = part[visible]
            role = ROLES[drawn.roles[number]]
            name = f"{instance_name(prefix, drawn.made.clip[image], role)}{layer.things.slot[row] if role == 'clutter' else ''}"
            kind = int(layer.things.shape[row]), int(layer.things.texture[row])
            found[image].append(Thing(name, role, *kind, full, visible))
    return found, part_map


def instance_name(prefix: str, clip: int, role: str) -> str:
    """The id of a thing of a clip, the same in all its frames: `train-s0/000017/object`."""
    return f"{prefix}/{clip:06d}/{role}"
