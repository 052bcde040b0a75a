"""Occluders: another object in front of the main one, which hides some of it but never all.

Where it stands is drawn until it fits: in a still image it hides 10% to 90% of the object's pixels; in a clip it hides
at least 10% in some frame and at most 98% in every frame. Both are counted on the pixels of the images themselves, and
a little more strictly at TRIAL pixels, so that images of any size nearly always settle for the same place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from snellen.data.phantom.dials import Dials
from snellen.data.phantom.draw_list import TILT, SceneList, main_objects
from snellen.data.phantom.draws import PhantomDraws
from snellen.data.phantom.fixed_point import ONE, TURN, cosine, sine
from snellen.data.phantom.grids import GridWindow, outline, shape_grid
from snellen.data.phantom.objects import Things, any_hue, any_texture
from snellen.data.phantom.shapes import SHAPES

TRIAL = 32  # pixels
ATTEMPTS = 64  # about three in four fit; were there none in all these, nothing would be planted
BLOCK = 1 << 16  # pixels looked at at once


class Bounds(NamedTuple):
    """The least and greatest share, in percent, that an occluder hides in the frame in which it hides most."""

    least: int
    most: int


STILL, STILL_TRIAL = Bounds(10, 90), Bounds(15, 85)
CLIP, CLIP_TRIAL = Bounds(10, 98), Bounds(15, 92)


def occluders(recipe: SceneList, dials: Dials) -> Things:
    """The things in front of the main objects: one in each image in which one is planted."""
    image = np.flatnonzero(recipe.draws.chance("occluded", dials.occlusion))
    _, first, clip = np.unique(recipe.clip[image], return_index=True, return_inverse=True)
    attempts, has_place = settled(recipe.draws.take(image[first]), recipe.true_class[image[first]], dials)
    fit = has_place[clip]
    image, clip = image[fit], clip[fit]
    return placed(recipe.draws.take(image), attempts.take(clip), recipe.objects.take(image), recipe.frame[image], dials)


def settled(draws: PhantomDraws, true_class: np.ndarray, dials: Dials) -> tuple[PhantomDraws, np.ndarray]:
    """The draws of the first attempt at a place that fits, for each clip, and whether one was found, bool [clips]."""
    keys, has_place = np.zeros_like(draws.keys), np.zeros(len(draws.keys), bool)
    for attempt in range(ATTEMPTS):
        pending = np.flatnonzero(~has_place)
        if not len(pending):
            break
        tried = draws.take(pending).within(f"occluder place {attempt}")
        fit = fits(draws.take(pending), tried, true_class[pending], dials)
        keys[pending[fit]], has_place[pending[fit]] = tried.keys[fit], True
    return PhantomDraws(keys), has_place


def fits(draws: PhantomDraws, attempt: PhantomDraws, true_class: np.ndarray, dials: Dials) -> np.ndarray:
    """Whether a place hides neither too little nor too much, looking at every frame of its clip, bool [clips]."""
    trial, real = (STILL_TRIAL, STILL) if dials.frames == 1 else (CLIP_TRIAL, CLIP)
    row, frame = np.divmod(np.arange(len(true_class) * dials.frames), dials.frames)
    objects = main_objects(draws.take(row), true_class[row], frame, dials)
    in_front = placed(draws.take(row), attempt.take(row), objects, frame, dials)
    fit = np.ones(len(true_class), bool)
    for size, bounds in {TRIAL: trial, dials.size: trial if dials.size == TRIAL else real}.items():
        looked_at = np.flatnonzero(fit[row])
        counts = overlap(objects.take(looked_at), in_front.take(looked_at), size)
        hidden, full = (count.reshape(-1, dials.frames) for count in counts)
        some = (100 * hidden >= bounds.least * full).any(axis=1)
        fit[fit] = some & (100 * hidden <= bounds.most * full).all(axis=1) & (full > 0).all(axis=1)
    return fit


def placed(draws: PhantomDraws, attempt: PhantomDraws, objects: Things, frame: np.ndarray, dials: Dials) -> Things:
    """The occluder of each object: what it is comes from the image's draws, where it is from those of the attempt.

    Seen from the object it passes in a straight line, closest in the frame `meeting`; a still image shows that moment.
    """
    own = draws.within("occluder")
    diameter = objects.diameter * attempt.whole("share of the main object", 75, 130) // 100
    apart = (diameter + objects.diameter) // 2
    closest = apart * attempt.whole("closest", 0, 65) // 100
    last = dials.frames - 1
    pace = apart * attempt.whole("pace", 90, 180) // (100 * max(last, 1))
    along = pace * (frame - attempt.whole("meeting", 0, last))
    side = attempt.whole("side", 0, TURN - 1)
    return Things(
        own,
        image=objects.image,
        slot=np.zeros_like(objects.image),
        shape=np.where(same_class(draws), objects.shape, other_class(own, objects.shape)),
        texture=any_texture(own),
        hue=any_hue(own),
        diameter=diameter,
        x=objects.x + (closest * cosine(side) - along * sine(side)) // ONE,
        y=objects.y + (closest * sine(side) + along * cosine(side)) // ONE,
        turn=own.whole("turn", -TILT, TILT),
    )


def same_class(draws: PhantomDraws) -> np.ndarray:
    """The fair coin whether an image's occluder is of its object's class, bool [B]."""
    return draws.chance("occluder of the same class", 0.5)


def other_class(draws: PhantomDraws, shape: np.ndarray) -> np.ndarray:
    """Any class but the given one, uniformly."""
    return (shape + draws.whole("other class", 1, len(SHAPES) - 1)) % len(SHAPES)


def overlap(objects: Things, in_front: Things, size: int) -> tuple[np.ndarray, np.ndarray]:
    """How many pixels of each object are hidden, and how many it has, int64 [T] each, in images of `size` pixels."""
    largest = int(objects.diameter.max(initial=0))
    hidden, full = np.zeros(len(objects), np.int64), np.zeros(len(objects), np.int64)
    step = max(BLOCK * ONE**2 // (largest * size + 1) ** 2, 1)
    for part in (slice(start, start + step) for start in range(0, len(objects), step)):
        behind, before = objects.take(part), in_front.take(part)
        window = GridWindow.around(behind, size, largest)
        whole, cover = (outline(shape_grid(things, window), slice(None), size) != 0 for things in (behind, before))
        full[part] = np.count_nonzero(whole, axis=(1, 2))
        hidden[part] = np.count_nonzero(whole & cover, axis=(1, 2))
    return hidden, full
