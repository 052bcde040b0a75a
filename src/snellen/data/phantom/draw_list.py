"""What each image shows, drawn without rendering it: cheap enough to list a dataset.

In clips things move from frame to frame, in straight lines and whole numbers; frame 0 of clip c shows the object where image c
of a world without clips has it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.phantom.dials import Dials
from snellen.data.phantom.draws import PhantomDraws
from snellen.data.phantom.fixed_point import ONE, TURN
from snellen.data.phantom.objects import Things, any_hue, any_shape, any_texture
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.textures import TEXTURES

EDGE_CLASS = tuple(SHAPES)[-2]  # the class that `edge_class` marks with bars
TILT = TURN * 25 // 360  # the most that an object is turned either way
SLOTS = 6  # for clutter
CLUTTER = (25, 45)  # percent of the main object's diameter, least and most
STRIDE = ONE // 16  # the most that a thing moves from one frame to the next, along each axis
SWING = TURN // 256  # the most that it turns meanwhile


@dataclass(frozen=True)
class SceneList:
    """The facts of some images, int64 [B] each.

    `clip` and `frame` say which image it is; `label` is the class given, `true_class` the class shown; `scene` is a
    position in SCENES; `edges`, bool, says whether bars mark the scene; `objects` are the main objects, one per image.
    """

    draws: PhantomDraws
    clip: np.ndarray
    frame: np.ndarray
    label: np.ndarray
    true_class: np.ndarray
    scene: np.ndarray
    edges: np.ndarray
    objects: Things


def recipe(indices: np.ndarray, split: str, dials: Dials) -> SceneList:
    """The recipe of the images at `indices` of a split.

    Every draw has its own name, so a dial changes only what it is about: raising `background_bias` moves some images
    to their class's own scene and leaves the rest, and every object, as it was.
    """
    clip, frame = np.divmod(np.asarray(indices, np.int64), dials.frames)
    draws = PhantomDraws.of(dials.seed, split, clip)
    true_class = clip % len(SHAPES)
    # One of the other classes: never the true one, and each as likely.
    wrong = (true_class + draws.whole("wrong label", 1, len(SHAPES) - 1)) % len(SHAPES)
    marked = true_class == tuple(SHAPES).index(EDGE_CLASS)
    return SceneList(
        draws,
        clip,
        frame,
        label=np.where(draws.chance("noisy label", dials.label_noise), wrong, true_class),
        true_class=true_class,
        scene=own_or_any(draws, "scene", true_class, len(SCENES), dials.background_bias),
        edges=marked & draws.chance("edges", dials.edge_class),
        objects=main_objects(draws, true_class, frame, dials),
    )


def main_objects(draws: PhantomDraws, shape: np.ndarray, frame: np.ndarray, dials: Dials) -> Things:
    """The main object of each image: of the given class, in the given frame of its clip."""
    diameter = draws.whole("diameter", int(dials.smallest * ONE), int(dials.largest * ONE))
    # How far its centre may be from the middle; a thing as large as the image stays there.
    room = (ONE // 2 - (diameter + 1) // 2).clip(0) * int(dials.off_centre * 65536) >> 16
    reach = ONE // 2 - room, ONE // 2 + room
    x, y = draws.whole("x", *reach), draws.whole("y", *reach)
    return Things(
        draws,
        image=np.arange(len(shape)),
        slot=np.zeros_like(shape),
        shape=shape,
        texture=own_or_any(draws, "texture", shape, len(TEXTURES), dials.texture_bias),
        hue=own_or_any(draws, "hue", shape, len(SHAPES), dials.colour_bias),
        diameter=diameter,
        x=moved(draws, "x", x, reach, frame, dials.frames),
        y=moved(draws, "y", y, reach, frame, dials.frames),
        turn=turning(draws, draws.whole("turn", -TILT, TILT), frame),
    )


def own_or_any(draws: PhantomDraws, name: str, label: np.ndarray, kinds: int, bias: float) -> np.ndarray:
    """With probability `bias` the kind of the class's own number, else any, uniformly."""
    return np.where(draws.chance(f"own {name}", bias), label % kinds, draws.whole(f"any {name}", 0, kinds - 1))


def clutter(plan: SceneList, dials: Dials) -> Things:
    """The smaller things behind each main object, ordered by slot and then by image."""
    filled = np.array([plan.draws.chance(f"clutter {slot}", dials.clutter) for slot in range(SLOTS)])
    slot, image = np.nonzero(filled)
    draws = PhantomDraws(np.array([plan.draws.within(f"clutter {number}").keys for number in range(SLOTS)])[filled])
    frame = plan.frame[image]
    anywhere = np.zeros_like(image), np.full_like(image, ONE)
    return Things(
        draws,
        image=image,
        slot=slot,
        shape=any_shape(draws),
        texture=any_texture(draws),
        hue=any_hue(draws),
        diameter=plan.objects.diameter[image] * draws.whole("share of the main object", *CLUTTER) // 100,
        x=moved(draws, "x", draws.whole("x", 0, ONE), anywhere, frame, dials.frames),
        y=moved(draws, "y", draws.whole("y", 0, ONE), anywhere, frame, dials.frames),
        turn=turning(draws, draws.whole("turn", -TILT, TILT), frame),
    )


def moved(
    draws: PhantomDraws,
    name: str,
    start: np.ndarray,
    reach: tuple[np.ndarray, np.ndarray],
    frame: np.ndarray,
    frames: int,
) -> np.ndarray:
    """Where a thing is in a frame, along one axis: on its way from `start` to an end drawn within `reach`, int64 [T]."""
    if frames == 1:
        return start
    low, high = reach
    farthest = STRIDE * (frames - 1)
    end = draws.whole(f"{name} end", np.maximum(low, start - farthest), np.minimum(high, start + farthest))
    return start + (end - start) * frame // (frames - 1)


def turning(draws: PhantomDraws, start: np.ndarray, frame: np.ndarray) -> np.ndarray:
    """How far a thing is turned in a frame, in 1/4096 of a full turn, int64 [T]."""
    return start + draws.whole("turn a frame", -SWING, SWING) * frame
