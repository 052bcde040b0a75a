"""The columns of the phantom world's listing."""

from __future__ import annotations

import numpy as np

from snellen.data.phantom.colours import hue_degrees
from snellen.data.phantom.dials import Dials
from snellen.data.phantom.draw_list import SceneList
from snellen.data.phantom.fixed_point import ONE
from snellen.data.phantom.occluders import occluders, overlap, same_class
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.textures import TEXTURES
from snellen.data.phantom.truth import instance_name

COLUMNS = (
    *("texture", "scene", "colour", "object_size", "true_class", "edges", "hidden", "level", "occluder", "same_class"),
    *("clip", "frame", "instance"),
)
LEVELS = ("none", "slight", "severe")


def levels(hidden: np.ndarray) -> np.ndarray:
    """How occluded each object is: none, slight (up to half of it hidden) or severe (more)."""
    return np.array(LEVELS)[(hidden > 0).astype(int) + (hidden > 0.5)]


def columns(recipe: SceneList, dials: Dials, prefix: str) -> dict[str, np.ndarray]:
    """What is known of each image, by name.

    `texture`, `scene` and `true_class` are names; `colour` is the object's hue, such as 'hue040' in degrees;
    `object_size` is the diameter of the circle around the object as a share of the side; `edges` says whether bars mark
    the scene. `hidden` is the exact share of the object's pixels that another thing hides at this size, `level` that
    share in words, `occluder` the class of what stands in front ('' for nothing) and `same_class` whether it is the
    object's own. `clip` and `frame` count from 0; `instance` is the same in all frames of a clip. Only where an occluder
    is planted are masks drawn for this.
    """
    objects = recipe.objects
    classes = np.array(list(SHAPES))
    hidden, occluder = np.zeros(len(recipe.label)), np.full(len(recipe.label), "", classes.dtype)
    same = np.zeros(len(recipe.label), bool)
    if dials.occlusion > 0:
        in_front = occluders(recipe, dials)
        covered, full = overlap(objects.take(in_front.image), in_front, dials.size)
        hidden[in_front.image] = covered / full
        occluder[in_front.image] = classes[in_front.shape]
        same[in_front.image] = same_class(recipe.draws.take(in_front.image))
    # Frames of a clip are not independent: intervals are clustered by `group` where there is one.
    groups = {"group": recipe.clip} if dials.frames > 1 else {}
    return {
        "texture": np.array(list(TEXTURES))[objects.texture],
        "scene": np.array(list(SCENES))[recipe.scene],
        "colour": np.array([f"hue{hue_degrees(hue):03d}" for hue in range(len(SHAPES))])[objects.hue],
        "object_size": objects.diameter / ONE,
        "true_class": classes[recipe.true_class],
        "edges": recipe.edges,
        "hidden": hidden,
        "level": levels(hidden),
        "occluder": occluder,
        "same_class": same,
        "clip": recipe.clip,
        "frame": recipe.frame,
        "instance": np.array([instance_name(prefix, clip, "object") for clip in recipe.clip.tolist()]),
        **groups,
    }
