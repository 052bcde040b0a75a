"""The whole truth of images: every thing in them, pixel by pixel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.colour_names import colour_terms
from snellen.data.phantom.dials import Dials
from snellen.data.phantom.draw_list import SceneList
from snellen.data.phantom.grids import outline, silhouette_cells
from snellen.data.phantom.layers import PhantomPicture, Role, picture
from snellen.data.phantom.paint import cells, compose, fill, tight_boxes
from snellen.data.phantom.shapes import parts
from snellen.data.phantom.textures import TEXTURES


@dataclass(frozen=True)
class Thing:
    """A thing in an image: what it is, all of it and what is visible of it, bool [S, S] each.

    `shape` and `texture` are positions in SHAPES and TEXTURES; the role is 'object', 'clutter' or 'occluder'.
    """

    instance_id: str
    role: Role
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
    len(TEXTURES) + 1 + scene on the scene; `colour` position in COLOURS + 1. Then, one per image: the `label` given, the
    `true_class` shown, `texture`, `scene_class`, the share `hidden` = 1 − visible / full pixels, float64,
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


def truth(recipe: SceneList, dials: Dials, prefix: str) -> Truth:
    """The truth of a recipe; instance ids start with `prefix`."""
    drawing = picture(recipe, dials)
    count, size = len(drawing), dials.size
    images, scene, alone = np.empty((3, count, size, size, 3), np.uint8)
    instance, colour = np.empty((2, count, size, size), np.uint8)
    terms = colour_terms(drawing.colours.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :3])
    for part in drawing.blocks():
        composition = compose(drawing, part)
        address = cells(drawing, part, composition)
        fill(images[part], address, drawing.colours)
        colour[part] = terms.take(address)
        instance[part] = (composition.ramps + 1) // 2
        fill(scene[part], cells(drawing, part, compose(drawing, part, ("clutter", "occluder"))), drawing.colours)
        only = compose(drawing, part, ("object",))
        fill(alone[part], cells(drawing, part, only), drawing.colours)
        alone[part][only.ramps == 0] = 0
    things, part_map = whole_things(drawing, instance, prefix)
    visible = instance == 1
    full = np.array([each[0].full for each in things], bool).reshape(visible.shape)
    shapes, textures = (per_pixel(things, instance, kind) for kind in ("shape", "texture"))
    return Truth(
        images=images,
        scene=scene,
        alone=alone,
        full=full,
        visible=visible,
        boxes=tight_boxes(visible),
        full_boxes=tight_boxes(full),
        instance=instance,
        object=shapes,
        part=part_map,
        material=np.where(instance > 0, textures, len(TEXTURES) + 1 + recipe.scene[:, None, None]).astype(np.uint8),
        colour=colour,
        label=recipe.label,
        true_class=recipe.true_class,
        texture=recipe.objects.texture,
        scene_class=recipe.scene,
        hidden=(full & ~visible).sum(axis=(1, 2)) / full.sum(axis=(1, 2)),
        instance_id=[each[0].instance_id for each in things],
        clip=recipe.clip,
        frame=recipe.frame,
        things=things,
    )


def whole_things(drawing: PhantomPicture, instance: np.ndarray, prefix: str) -> tuple[list[list[Thing]], np.ndarray]:
    """The things of each image by number, and the map of the parts that are visible, uint8 [B, S, S]."""
    things: list[list[Thing]] = [[] for _ in range(len(drawing))]
    part_map = np.zeros(instance.shape, np.uint8)
    of_class = parts().reshape(-1)
    for layer in sorted(drawing.layers, key=lambda layer: layer.role != "object"):
        for row, image in enumerate(layer.things.image):
            of_row = slice(row, row + 1)
            place = np.ix_(layer.window.rows(of_row)[0], layer.window.columns(of_row)[0])
            full, part = np.zeros(instance.shape[1:], bool), np.zeros(instance.shape[1:], np.uint8)
            full[place] = outline(layer.shape, of_row, drawing.size)[0] != 0
            part[place] = of_class.take(silhouette_cells(layer.shape, of_row)[0])
            visible = instance[image] == layer.number[row]
            part_map[image][visible] = part[visible]
            name = f"clutter{layer.things.slot[row]}" if layer.role == "clutter" else layer.role
            kind = int(layer.things.shape[row]), int(layer.things.texture[row])
            identity = instance_name(prefix, drawing.recipe.clip[image], name)
            things[image].append(Thing(identity, layer.role, *kind, full, visible))
    return things, part_map


def per_pixel(things: list[list[Thing]], instance: np.ndarray, kind: str) -> np.ndarray:
    """The shape or texture of the thing at each pixel plus 1, 0 for the scene, uint8 [B, S, S]."""
    values = np.zeros(instance.shape, np.uint8)
    for row, each in enumerate(things):
        values[row] = np.array([0] + [getattr(thing, kind) + 1 for thing in each], np.uint8)[instance[row]]
    return values


def instance_name(prefix: str, clip: int, thing: str) -> str:
    """The id of a thing of a clip, the same in all its frames: `train-s0/000017/object`."""
    return f"{prefix}/{clip:06d}/{thing}"
