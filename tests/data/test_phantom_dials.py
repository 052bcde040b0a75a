"""The dials of the phantom world: each can be measured back, and changes only what it is about."""

from __future__ import annotations

import math
from dataclasses import fields
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.data.dataset import Samples
from snellen.data.phantom import DIALS, EDGE_CLASS, World, load_phantom
from snellen.data.phantom.dials import read_dials
from snellen.data.phantom.draw_list import SLOTS, clutter
from snellen.data.phantom.listing import COLUMNS
from snellen.data.phantom.occluders import occluders
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.textures import TEXTURES
from snellen.errors import UserError

CLASSES = np.array(list(SHAPES))
HUES = np.array([f"hue{hue * 360 // len(SHAPES):03d}" for hue in range(len(SHAPES))])
OWN = {  # dial → its column, and the values of which each class has its own
    "background_bias": ("scene", np.array(list(SCENES))),
    "texture_bias": ("texture", np.array(list(TEXTURES))),
    "colour_bias": ("colour", HUES),
}


def numbers(listed: Samples) -> np.ndarray:
    """The true class of each sample as a number."""
    return np.array([list(SHAPES).index(name) for name in listed.columns["true_class"]])


def own(listed: Samples, column: str, values: np.ndarray) -> np.ndarray:
    return values[numbers(listed) % len(values)] == listed.columns[column]


def near(share: float, n: int) -> pytest.approx:
    """Within four binomial standard errors."""
    return pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / n))


# Each dial is what it says


@pytest.mark.parametrize("dial", OWN)
@pytest.mark.parametrize("bias", [0, 0.25, 0.8, 1])
def test_a_bias_can_be_measured_back_and_the_others_stay_at_chance(dial, bias):
    n = 20_000
    listed = World(n=n, **{dial: bias}).samples()
    for other, (column, values) in OWN.items():
        planted = bias if other == dial else 0
        # A class's own number is one of the values, so chance adds to what is planted.
        assert own(listed, column, values).mean() == near(planted + (1 - planted) / len(values), n)


def test_biases_choose_their_images_independently():
    n = 20_000
    listed = World(n=n, background_bias=0.5, texture_bias=0.5, colour_bias=0.5).samples()
    all_three = np.all([own(listed, *pair) for pair in OWN.values()], axis=0)
    assert all_three.mean() == near(math.prod(0.5 + 0.5 / len(values) for _, values in OWN.values()), n)


def test_without_bias_everything_is_uniform_and_independent_of_class_and_each_other():
    n = 72_000
    made = World(n=n).recipe(np.arange(n))
    kinds = {"class": (made.true_class, len(SHAPES)), "scene": (made.scene, len(SCENES))}
    kinds |= {"texture": (made.objects.texture, len(TEXTURES)), "hue": (made.objects.hue, len(SHAPES))}
    names = list(kinds)
    for i, first in enumerate(names):
        for second in names[:i]:
            (a, rows), (b, columns) = kinds[first], kinds[second]
            expected = n / (rows * columns)
            cells = np.bincount(a * columns + b, minlength=rows * columns)
            freedom = rows * columns - 1
            chi_squared = ((cells - expected) ** 2 / expected).sum()
            assert abs(chi_squared - freedom) < 5 * math.sqrt(2 * freedom), (first, second)


def test_bars_mark_one_class_as_often_as_dialled_and_no_other():
    n = 4000 * len(SHAPES)
    listed = World(n=n, edge_class=0.3).samples()
    marked = listed.columns["true_class"] == EDGE_CLASS
    assert listed.columns["edges"][marked].mean() == near(0.3, 4000)
    assert not listed.columns["edges"][~marked].any()


def test_bars_are_straight_edges_along_the_axes_in_the_scene():
    world, bare = World(edge_class=1, size=64), World(size=64)
    index = list(SHAPES).index(EDGE_CLASS) + len(SHAPES) * np.arange(8)
    after, before = world.render(index), bare.render(index)
    np.testing.assert_array_equal(after.masks, before.masks)
    np.testing.assert_array_equal(after.images[after.masks], before.images[after.masks])
    changed = (after.images != before.images).any(axis=3)
    assert (changed.mean(axis=(1, 2)) > 0.03).all()
    others = np.setdiff1d(np.arange(20), index)
    np.testing.assert_array_equal(world.render(others).images, bare.render(others).images)


@pytest.mark.parametrize(("low", "high"), [(0.2, 0.3), (0.1, 1.0), (0.6, 0.6)])
def test_object_sizes_are_spread_evenly_over_their_range(low, high):
    shares = World(n=4000, object_size=(low, high)).samples().columns["object_size"]
    assert low - 1e-4 <= shares.min() <= low + 0.01 * (high - low)
    assert high - 0.01 * (high - low) - 1e-4 <= shares.max() <= high
    # A uniform law has the standard deviation (high − low) / √12.
    assert shares.mean() == pytest.approx((low + high) / 2, abs=1e-4 + 4 * (high - low) / math.sqrt(12 * 4000))


def test_one_number_is_a_range_without_width():
    assert World(object_size=0.4).text == load_phantom("train", {"object_size": "0.4"}).text
    assert World(object_size=(0.4, 0.4)).text == World(object_size=0.4).text
    assert "object_size=0.3..0.6" in load_phantom("train", {"object_size": "0.3..0.6"}).text


@pytest.mark.parametrize("off_centre", [0, 0.5, 1])
def test_off_centre_is_how_far_from_the_middle_an_object_may_be(off_centre):
    made = World(n=4000, off_centre=off_centre).recipe(np.arange(4000)).objects
    room = (8192 - made.diameter / 2) * off_centre
    for centre in (made.x, made.y):
        assert (abs(centre - 8192) <= room + 1).all()
        # Uniform over the room either way: the mean distance is half of it.
        assert abs(centre - 8192).mean() == pytest.approx(room.mean() / 2, rel=0.05, abs=1)


def test_each_slot_of_clutter_is_filled_as_often_as_dialled():
    n = 4000
    world = World(n=n, clutter=0.4)
    made = world.recipe(np.arange(n))
    every = clutter(made, world)
    slots = [every.take(part) for part in every.slots()]
    assert len(slots) == SLOTS
    for things in slots:
        assert len(things) / n == near(0.4, n)
        assert (np.diff(things.image) > 0).all()
        assert (things.diameter < made.objects.diameter[things.image] / 2).all()
    assert np.bincount(every.shape, minlength=len(SHAPES)) / len(every) == pytest.approx(1 / len(SHAPES), abs=0.013)


def test_occluders_are_as_often_as_dialled_and_by_a_fair_coin_of_the_same_class():
    n = 2000
    columns = World(n=n, size=16, occlusion=0.7).samples().columns
    there = columns["occluder"] != ""
    assert there.mean() == near(0.7, n)
    assert columns["same_class"][there].mean() == near(0.5, int(there.sum()))
    np.testing.assert_array_equal(columns["same_class"], columns["occluder"] == columns["true_class"])
    hidden = columns["hidden"]
    assert (hidden[there] >= 0.1).all()
    assert (hidden[there] <= 0.9).all()
    assert (hidden[~there] == 0).all()
    assert set(columns["level"][~there]) == {"none"}
    np.testing.assert_array_equal(columns["level"][there], np.where(hidden[there] > 0.5, "severe", "slight"))
    assert np.histogram(hidden[there], [0.1, 0.3, 0.5, 0.7, 0.9])[0].min() > 0.08 * there.sum()


@pytest.mark.parametrize("dials", [{"size": 16, "object_size": 0.25}, {"size": 16}, {"size": 40}])
def test_an_occluder_hides_a_tenth_to_nine_tenths_of_even_the_smallest_object(dials):
    columns = World(n=2000, occlusion=1, **dials).samples().columns
    assert (columns["occluder"] != "").all()
    assert columns["hidden"].min() >= 0.1
    assert columns["hidden"].max() <= 0.9


def test_noisy_labels_are_any_other_class_and_the_true_one_is_kept():
    n = 20_000
    listed = World(n=n, label_noise=0.3).samples()
    true = numbers(listed)
    np.testing.assert_array_equal(true, np.arange(n) % len(SHAPES))
    wrong = listed.labels != true
    assert wrong.mean() == near(0.3, n)
    by_class = np.bincount((listed.labels - true)[wrong] % len(SHAPES), minlength=len(SHAPES))
    assert by_class[0] == 0
    assert by_class[1:] / wrong.sum() == pytest.approx(1 / (len(SHAPES) - 1), abs=0.02)


# A dial changes only what it is about


ABOUT = {  # dial → the columns it may change
    "background_bias": {"scene"},
    "texture_bias": {"texture"},
    "colour_bias": {"colour"},
    "edge_class": {"edges"},
    "object_size": {"object_size", "hidden", "level"},
    "off_centre": {"hidden", "level"},
    "clutter": set(),
    "occlusion": {"hidden", "level", "occluder", "same_class"},
    "label_noise": {"label"},
}
MIDDLE = {dial: (0.4, 0.6) if dial == "object_size" else 0.5 for dial in ABOUT}


def test_every_dial_is_looked_at():
    assert set(ABOUT) == set(DIALS) - {"n", "size", "frames", "seed"}


@pytest.mark.parametrize("dial", ABOUT)
def test_turning_one_dial_leaves_what_the_others_drew(dial):
    other = (0.5, 0.9) if dial == "object_size" else 0.9
    before, after = (World(n=300, size=16, **{**MIDDLE, dial: value}) for value in (MIDDLE[dial], other))
    listed = [{"label": world.samples().labels, **world.samples().columns} for world in (before, after)]
    changed = {name for name in listed[0] if (listed[0][name] != listed[1][name]).any()}
    assert changed <= ABOUT[dial]
    assert changed or dial in ("clutter", "off_centre")
    things = [clutter(world.recipe(np.arange(300)), world) for world in (before, after)]
    for first, second in zip(*([all_.take(part) for part in all_.slots()] for all_ in things)):
        assert set(first.image) <= set(second.image)  # more only by its own dial
        assert dial == "clutter" or (first.image == second.image).all()
        both = np.isin(second.image, first.image)
        for field in ("shape", "texture", "hue", "x", "y", "turn"):
            np.testing.assert_array_equal(getattr(first, field), getattr(second, field)[both])
    first, second = (occluders(world.recipe(np.arange(300)), world) for world in (before, after))
    both = np.isin(second.image, first.image)
    for field in ("shape", "texture", "hue", "turn"):
        np.testing.assert_array_equal(getattr(first, field), getattr(second, field)[both])


def test_raising_a_bias_only_moves_images_to_their_own_scene():
    weak, strong = (World(background_bias=bias).samples() for bias in (0.3, 0.7))
    moved = weak.columns["scene"] != strong.columns["scene"]
    assert moved.mean() == near(0.4 * (1 - 1 / len(SCENES)), 4000)
    assert own(strong, "scene", OWN["background_bias"][1])[moved].all()


def test_every_dial_is_part_of_the_fingerprint_and_none_by_how_it_is_written():
    changes = [{}, *(dict.fromkeys([dial], "0.5") for dial in DIALS if DIALS[dial].kind != "whole")]
    changes += [{"n": "8"}, {"size": "32"}, {"seed": "1"}, {"frames": "3"}]
    prints = {load_phantom("train", {"n": "9", **change}).fingerprint for change in changes}
    prints.add(load_phantom("test", {"n": "9"}).fingerprint)
    assert len(prints) == len(DIALS) + 2
    assert World(background_bias=0.5, n=9).dataset().fingerprint in prints
    assert {field.name for field in fields(World)} == {"split", *DIALS}


shares = st.floats(0, 1)
sizes = st.tuples(st.floats(0.25, 1), st.floats(0.25, 1)).map(lambda pair: tuple(sorted(pair)))
whole = {
    "n": st.integers(1, 5),
    "size": st.integers(16, 512),
    "frames": st.integers(1, 9),
    "seed": st.integers(0, 2**63 - 1),
}
given_dials = st.fixed_dictionaries(
    {"object_size": sizes | st.floats(0.25, 1), **whole},
    optional={name: shares for name, dial in DIALS.items() if dial.kind == "number"},
)


@given(dials=given_dials, split=st.sampled_from(["train", "test"]))
def test_the_text_of_a_world_reads_back_as_that_world(dials, split):
    world = World(split, **dials)
    path, _, query = world.text.removeprefix("phantom:").partition("?")
    again = World(path, **read_dials(dict(parse_qsl(query))))
    assert again.text == world.text
    for name in DIALS:
        if name != "object_size":
            assert getattr(again, name) == getattr(world, name)
    assert (again.smallest, again.largest) == (world.smallest, world.largest)


# Errors


@pytest.mark.parametrize(
    ("split", "dials", "message"),
    [
        ("train", {"background_bias": "1.3"}, "expected background_bias in [0, 1], got 1.3"),
        ("train", {"texture_bias": "nan"}, "expected texture_bias in [0, 1], got nan"),
        ("train", {"texture_bias": "much"}, "expected texture_bias as a number, got 'much'"),
        ("train", {"object_size": "0.05..0.3"}, "expected object_size in [0.1, 1], got 0.05"),
        ("train", {"object_size": "0.3..1.5"}, "expected object_size in [0.1, 1], got 1.5"),
        ("train", {"object_size": "0.6..0.3"}, "expected object_size as least..most, got 0.6..0.3"),
        (
            "train",
            {"object_size": "0.3..0.4..0.5"},
            "expected object_size as a number or a range like 0.3..0.6, got '0.3..0.4..0.5'",
        ),
        (
            "train",
            {"object_size": "0.1", "size": "32"},
            "expected objects of at least 4 pixels, got object_size 0.1 of 32 pixels; raise object_size or size",
        ),
        ("train", {"frames": "0"}, "expected frames in [1, 1000], got 0"),
        ("train", {"clutter": "-0.1"}, "expected clutter in [0, 1], got -0.1"),
        ("train", {"n": "2.5"}, "expected n as a whole number, got '2.5'"),
        ("train", {"n": "0"}, "expected n in [1, 10000000], got 0"),
        ("test", {"size": "8"}, "expected size in [16, 512], got 8"),
        ("test", {"seed": "-1"}, "expected seed in [0, 9223372036854775807], got -1"),
        ("test", {"backgroundbias": "1"}, "unknown phantom dial 'backgroundbias'; did you mean 'background_bias'?"),
        ("val", {}, "expected phantom:train or phantom:test, got 'phantom:val'"),
    ],
)
def test_a_bad_dial_says_what_was_expected(split, dials, message):
    with pytest.raises(UserError) as error:
        load_phantom(split, dials)
    assert str(error.value) == message


def test_columns_filter_the_listing() -> None:
    from snellen.data import load_data

    world = load_data("phantom:test?n=200&size=32&occlusion=1")
    severe = load_data("phantom:test?n=200&size=32&occlusion=1&level=severe&label=ring")
    assert set(world.samples.columns) == set(COLUMNS)
    hidden = world.samples.columns["hidden"]
    ring = world.samples.labels == world.classes.index("ring")
    assert severe.samples.ids == tuple(np.array(world.samples.ids)[(hidden > 0.5) & ring])
