"""The truth of an image: masks, boxes, maps, marks and pixels say the same."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

from snellen.data.colour_names import colour_terms
from snellen.data.phantom import COLOURS, DIALS, Truth, World, marks
from snellen.data.phantom.draw_list import EDGE_CLASS
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import GRID, PARTS, SHAPES, parts
from snellen.data.phantom.textures import TEXTURES

EVERY = {name: 0.5 for name, dial in DIALS.items() if dial.kind == "number"}
WORLDS = {
    "stills": World(size=48, **EVERY),
    "clips": World(size=40, frames=5, **EVERY),
    "small things": World("test", size=64, object_size=(0.1, 0.3), **EVERY),
    "large things": World(size=16, object_size=1, **EVERY),
}


@pytest.fixture(scope="module", params=WORLDS)
def world(request: pytest.FixtureRequest) -> World:
    return WORLDS[request.param]


@pytest.fixture(scope="module")
def some(world: World) -> np.ndarray:
    return np.random.default_rng(3).choice(world.n, 60, replace=False)


@pytest.fixture(scope="module")
def truth(world: World, some: np.ndarray) -> Truth:
    return world.truth(some)


def box(mask: np.ndarray) -> list[int]:
    rows, columns = np.nonzero(mask)
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def test_truth_and_render_show_the_same(world, some, truth):
    made = world.render(some)
    np.testing.assert_array_equal(made.images, truth.images)
    np.testing.assert_array_equal(made.masks, truth.visible)
    np.testing.assert_array_equal(made.boxes, truth.boxes)


def test_boxes_are_tight_around_full_and_visible_masks(truth):
    for full, visible, full_box, visible_box in zip(truth.full, truth.visible, truth.full_boxes, truth.boxes):
        assert full_box.tolist() == box(full)
        assert visible_box.tolist() == box(visible)


def test_the_hidden_share_is_that_of_the_masks_and_of_the_listing(world, some, truth):
    assert not (truth.visible & ~truth.full).any()
    for full, visible, hidden in zip(truth.full, truth.visible, truth.hidden):
        assert hidden == (full.sum() - visible.sum()) / full.sum()
    columns = world.samples().columns
    np.testing.assert_array_equal(columns["hidden"][some], truth.hidden)
    in_front = np.array([next((t.shape for t in each if t.role == "occluder"), -1) for each in truth.things])
    np.testing.assert_array_equal(columns["occluder"][some], np.array([*SHAPES, ""])[in_front])
    assert 0.2 < (in_front >= 0).mean() < 0.8


def test_the_image_is_the_scene_where_the_object_is_not_and_the_object_where_it_is(truth):
    np.testing.assert_array_equal(truth.images[~truth.visible], truth.scene[~truth.visible])
    np.testing.assert_array_equal(truth.images[truth.visible], truth.alone[truth.visible])
    assert not truth.alone[~truth.full].any()
    hidden = truth.full & ~truth.visible
    np.testing.assert_array_equal(truth.images[hidden], truth.scene[hidden])


def test_the_scene_does_not_know_what_stood_in_it(truth):
    codes = marks.read(truth.scene)
    assert not ((codes >= marks.MAIN) & (codes < marks.OTHER)).any()


def test_every_pixel_belongs_to_the_frontmost_thing_that_covers_it(truth):
    order = {"clutter": 0, "object": 1, "occluder": 2}
    for row, things in enumerate(truth.things):
        assert [thing.role for thing in things[:1]] == ["object"]
        assert len({thing.instance_id for thing in things}) == len(things)
        front = np.zeros_like(truth.instance[row])
        for number in sorted(range(len(things)), key=lambda number: (order[things[number].role], number)):
            front[things[number].full] = number + 1
        np.testing.assert_array_equal(truth.instance[row], front)
        for number, thing in enumerate(things, 1):
            np.testing.assert_array_equal(thing.visible, front == number)
        np.testing.assert_array_equal(things[0].full, truth.full[row])
        np.testing.assert_array_equal(things[0].visible, truth.visible[row])
        assert things[0].instance_id == truth.instance_id[row]
        assert (things[0].shape, things[0].texture) == (truth.true_class[row], truth.texture[row])


def test_label_maps_name_the_thing_at_each_pixel(truth):
    class_parts = [set(np.unique(sheet[sheet > 0])) for sheet in parts()]
    for row, things in enumerate(truth.things):
        for number, thing in enumerate(things, 1):
            here = truth.instance[row] == number
            assert (truth.object[row][here] == thing.shape + 1).all()
            assert (truth.material[row][here] == thing.texture + 1).all()
            assert set(truth.part[row][here]) <= class_parts[thing.shape]
        scene = truth.instance[row] == 0
        assert not truth.object[row][scene].any()
        assert not truth.part[row][scene].any()
        assert (truth.material[row][scene] == len(TEXTURES) + 1 + truth.scene_class[row]).all()
    assert truth.part.max() <= len(PARTS)


def test_parts_lie_where_turning_the_pixels_in_floating_point_puts_them():
    world, indices, size = World(size=96, off_centre=1), np.arange(3 * len(SHAPES)), 96
    truth, things = world.truth(indices), world.recipe(indices).objects
    for row in indices:
        angle, side = 2 * np.pi * things.turn[row] / 4096, things.diameter[row] / 16384
        right, down = ((np.arange(size) + 0.5) / size - centre[row] / 16384 for centre in (things.x, things.y))
        u = right[None, :] * np.cos(angle) + down[:, None] * np.sin(angle)
        v = down[:, None] * np.cos(angle) - right[None, :] * np.sin(angle)
        column, line = ((0.5 + place / side) * GRID for place in (u, v))
        on_grid = (column >= 0) & (column < GRID) & (line >= 0) & (line < GRID)
        cell = line.clip(0, GRID - 1).astype(int), column.clip(0, GRID - 1).astype(int)
        expected = np.where(on_grid, parts()[things.shape[row]][cell], 0)
        assert (truth.part[row] == expected).mean() > 0.998


def test_a_plain_object_has_the_hue_that_the_listing_says():
    world = World(size=32, n=2000)
    columns = world.samples().columns
    plain = np.flatnonzero(columns["texture"] == "plain")[:60]
    truth = world.truth(plain)
    for alone, full, listed in zip(truth.alone, truth.full, columns["colour"][plain]):
        hues = [360 * colorsys.rgb_to_hsv(*pixel)[0] for pixel in alone[full] / 255]
        apart = (np.array(hues) - int(listed[3:]) + 180) % 360 - 180
        assert abs(np.median(apart)) < 180 / len(SHAPES)


def test_marks_read_the_material_back_from_the_pixels(truth):
    codes = marks.read(truth.images)
    main, scene = truth.instance == 1, truth.instance == 0
    expected = np.where(main, marks.MAIN, marks.OTHER) + truth.material - 1
    expected[scene] = (truth.material - len(TEXTURES) - 1)[scene]
    np.testing.assert_array_equal(codes, expected)


def test_the_colour_map_names_the_colour_of_the_pixel(truth):
    np.testing.assert_array_equal(truth.colour, colour_terms(truth.images))
    assert 1 <= truth.colour.min() <= truth.colour.max() <= len(COLOURS)


def test_facts_are_those_of_the_listing(world, some, truth):
    listed = world.samples()
    np.testing.assert_array_equal(listed.labels[some], truth.label)
    assert listed.columns["instance"][some].tolist() == truth.instance_id
    for column, names, values in (
        ("true_class", SHAPES, truth.true_class),
        ("texture", TEXTURES, truth.texture),
        ("scene", SCENES, truth.scene_class),
    ):
        np.testing.assert_array_equal(listed.columns[column][some], np.array(list(names))[values])
    for column in ("clip", "frame"):
        np.testing.assert_array_equal(listed.columns[column][some], getattr(truth, column))


def test_an_image_is_the_same_alone_and_in_any_order(world, some, truth):
    backwards = world.truth(some[::-1])
    for name in ("images", "scene", "alone", "instance", "part", "material", "hidden"):
        np.testing.assert_array_equal(getattr(backwards, name)[::-1], getattr(truth, name))
    for row in (0, 17, 59):
        np.testing.assert_array_equal(world.render(some[[row]]).images[0], truth.images[row])


def test_an_occluder_stands_at_the_same_place_at_nearly_every_size():
    columns = [World(n=400, size=size, occlusion=1).samples().columns for size in (32, 128)]
    assert np.mean(abs(columns[0]["hidden"] - columns[1]["hidden"]) < 0.06) > 0.97


@pytest.mark.parametrize("frames", [1, 3])
def test_nothing_asked_nothing_told(frames):
    none = World(size=16, frames=frames, **EVERY).truth([])
    assert none.images.shape == (0, 16, 16, 3)
    assert none.visible.shape == (0, 16, 16)
    assert none.things == none.instance_id == []


def test_every_class_has_pixels_even_when_small():
    made = World(size=16, object_size=0.25, n=1000).render(range(1000))
    assert made.masks.any(axis=(1, 2)).all()


def test_bars_count_as_scene():
    index = list(SHAPES).index(EDGE_CLASS)
    truth = World(edge_class=1).truth([index])
    codes = marks.read(truth.images)
    assert set(np.unique(codes[~truth.visible])) == {truth.scene_class[0]}
