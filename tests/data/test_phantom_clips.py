"""Clips of the phantom world: one instance that moves smoothly, and what passes in front of it."""

from __future__ import annotations

import numpy as np
import pytest

from snellen.data.phantom import DIALS, World
from snellen.data.phantom.draw_list import STRIDE
from snellen.data.phantom.occluders import occluders
from snellen.data.phantom.shapes import SHAPES

EVERY = {name: 0.5 for name, dial in DIALS.items() if dial.kind == "number"}
FRAMES = 8


@pytest.fixture(scope="module")
def world() -> World:
    return World(n=FRAMES * 40, size=32, frames=FRAMES, **{**EVERY, "occlusion": 1.0})


def test_an_index_is_a_frame_of_a_clip(world):
    listed = world.samples()
    np.testing.assert_array_equal(listed.columns["clip"], np.arange(world.n) // FRAMES)
    np.testing.assert_array_equal(listed.columns["frame"], np.arange(world.n) % FRAMES)
    np.testing.assert_array_equal(listed.columns["group"], listed.columns["clip"])
    assert listed.ids[FRAMES + 3] == "train-s0/000001-003"
    assert len(set(listed.ids)) == world.n
    assert "group" not in World().samples().columns


def test_a_clip_shows_one_instance(world):
    columns = {"label": world.samples().labels, **world.samples().columns}
    for name in ("label", "texture", "scene", "colour", "object_size", "true_class", "edges", "occluder", "instance"):
        clips = columns[name].reshape(-1, FRAMES)
        assert (clips == clips[:, :1]).all(), name
    assert len(set(columns["instance"])) == 40
    truth = world.truth(range(2 * FRAMES))
    for clip in (truth.things[:FRAMES], truth.things[FRAMES:]):
        assert len({tuple((t.instance_id, t.shape, t.texture) for t in things) for things in clip}) == 1


def test_a_clip_starts_where_the_still_image_stands(world):
    still = World(n=40, size=32, **{**EVERY, "occlusion": 0})
    clips = World(n=FRAMES * 40, size=32, frames=FRAMES, **{**EVERY, "occlusion": 0})
    np.testing.assert_array_equal(still.render(range(40)).images, clips.render(FRAMES * np.arange(40)).images)


def test_things_move_a_little_every_frame_and_in_a_straight_line(world):
    made = world.recipe(np.arange(world.n)).objects
    for place in (made.x, made.y):
        steps = np.diff(place.reshape(-1, FRAMES), axis=1)
        assert abs(steps).max() <= STRIDE + 1
        assert (np.ptp(steps, axis=1) <= 1).all()  # whole numbers round by one
        assert (steps != 0).any(axis=1).mean() > 0.9
    reach = 8192 - (made.diameter + 1) // 2
    assert (abs(made.x - 8192) <= reach).all()


def test_the_scene_stands_still():
    world = World(n=FRAMES, size=32, frames=FRAMES)
    first, last = world.truth([0, FRAMES - 1]).scene
    np.testing.assert_array_equal(first, last)


def test_an_occluder_passes_and_never_hides_all(world):
    columns = world.samples().columns
    hidden = columns["hidden"].reshape(-1, FRAMES)
    assert (hidden.max(axis=1) >= 0.1).all()
    assert hidden.max() <= 0.98
    assert set(columns["level"]) == {"none", "slight", "severe"}
    np.testing.assert_array_equal(columns["level"] == "none", columns["hidden"] == 0)
    np.testing.assert_array_equal(columns["level"] == "severe", columns["hidden"] > 0.5)
    assert (hidden.min(axis=1) < hidden.max(axis=1) / 2).mean() > 0.7  # it comes and goes


@pytest.mark.parametrize("dials", [{"object_size": 0.25}, {}, {"object_size": (0.8, 1.0)}])
def test_two_percent_of_an_object_are_visible_in_every_frame_of_many_clips(dials):
    columns = World(n=FRAMES * 300, size=16, frames=FRAMES, occlusion=1, **dials).samples().columns
    assert (columns["occluder"] != "").all()
    assert columns["hidden"].max() <= 0.98
    assert columns["hidden"].reshape(-1, FRAMES).max(axis=1).min() >= 0.1


def test_occlusion_is_the_share_of_clips_that_something_passes():
    world = World(n=4 * 1000, size=16, frames=4, occlusion=0.3)
    there = (world.samples().columns["occluder"] != "").reshape(-1, 4)
    assert (there == there[:, :1]).all()
    assert there[:, 0].mean() == pytest.approx(0.3, abs=4 * (0.3 * 0.7 / 1000) ** 0.5)


def test_frames_can_be_read_in_any_order(world):
    order = np.random.default_rng(0).permutation(world.n)[:50]
    shuffled, alone = occluders(world.recipe(order), world), [world.recipe([index]) for index in order]
    for row, made in enumerate(alone):
        one = occluders(made, world)
        assert (shuffled.x[row], shuffled.y[row]) == (one.x[0], one.y[0])


@pytest.mark.parametrize("frames", [2, 3, 30])
def test_clips_of_any_length_can_be_made_and_cut_off(frames):
    world = World("test", n=2 * frames + 1, size=16, frames=frames, **EVERY)
    made = world.render(range(world.n))
    assert made.masks.any(axis=(1, 2)).all()
    assert world.samples().columns["clip"].max() == 2
    assert world.samples().labels.max() < len(SHAPES)
