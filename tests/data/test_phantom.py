"""The phantom world: what it says of an image is what the image shows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from snellen.data.phantom import DIALS, World, load_phantom
from snellen.data.phantom.draws import mixed
from snellen.data.phantom.shapes import SHAPES, silhouettes
from snellen.hashing import checksum, pixel_checksums

SHARES = [name for name, dial in DIALS.items() if (dial.kind, dial.low, dial.high) == ("number", 0, 1)]
GOLDEN = {32: "b363a1eb626ca6c743fbc9805dcec111", 64: "5dd21fdef3a63106ad35b63339620154"}


@pytest.fixture
def some() -> np.ndarray:
    return np.random.default_rng(0).choice(4000, 60, replace=False)


# Masks and boxes


@pytest.mark.parametrize("size", [16, 32, 64, 97])
def test_a_box_is_the_first_and_last_row_and_column_of_its_mask(some, size):
    made = World(size=size).render(some)
    for mask, box in zip(made.masks, made.boxes):
        rows, columns = np.nonzero(mask)
        assert box.tolist() == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("disc", math.pi * 880**2),
        ("ring", math.pi * (980**2 - 500**2)),
        ("square", 1400**2),
        ("triangle", 1732 * 1500 / 2),
        ("cross", 620 * (2 * 1900 - 620)),
    ],
)
def test_a_mask_covers_the_area_of_its_shape_so_no_object_is_cut_off(name, share):
    world = World(size=224)
    indices = list(SHAPES).index(name) + len(SHAPES) * np.arange(20)
    diameter = world.samples().columns["object_size"][indices] * 224
    expected = share * (diameter / 2048) ** 2  # a silhouette's circle has a radius of 1024
    np.testing.assert_allclose(world.render(indices).masks.sum(axis=(1, 2)), expected, rtol=0.02)


def test_no_silhouette_touches_the_edge_of_its_grid():
    drawn = silhouettes(rim=8) > 0
    assert drawn.any(axis=(1, 2)).all()
    assert not drawn[:, [0, -1], :].any()
    assert not drawn[:, :, [0, -1]].any()


def test_the_same_object_is_shown_at_every_size(some):
    small, large = World(size=32).render(some), World(size=128).render(some)
    assert np.abs(small.boxes * 4 - large.boxes).max() <= 8  # two of the small pixels
    shares = small.masks.mean(axis=(1, 2)), large.masks.mean(axis=(1, 2))
    assert np.abs(shares[0] - shares[1]).max() < 0.02


# Pixels


def test_only_object_pixels_change_with_the_texture(some):
    free, bound = World(texture_bias=0), World(texture_bias=1)
    before, after = free.render(some), bound.render(some)
    np.testing.assert_array_equal(before.masks, after.masks)
    np.testing.assert_array_equal(before.images[~before.masks], after.images[~before.masks])
    changed = (before.images != after.images).any(axis=(1, 2, 3))
    assert (changed == (free.recipe(some).objects.texture != bound.recipe(some).objects.texture)).all()
    assert 0.7 < changed.mean() < 1


def test_only_background_pixels_change_with_the_scene(some):
    free, bound = World(background_bias=0), World(background_bias=1)
    before, after = free.render(some), bound.render(some)
    np.testing.assert_array_equal(before.masks, after.masks)
    np.testing.assert_array_equal(before.images[before.masks], after.images[before.masks])
    changed = (before.images != after.images).any(axis=(1, 2, 3))
    assert (changed == (free.recipe(some).scene != bound.recipe(some).scene)).all()
    assert 0.7 < changed.mean() < 1


def test_an_image_is_the_same_alone_in_a_batch_and_in_another_order(some):
    world = World(size=48)
    together, reversed_ = world.render(some), world.render(some[::-1])
    np.testing.assert_array_equal(together.images, reversed_.images[::-1])
    np.testing.assert_array_equal(together.masks, reversed_.masks[::-1])
    for row, index in enumerate(some[:5]):
        np.testing.assert_array_equal(world.render([index]).images[0], together.images[row])


def test_how_many_are_listed_does_not_change_an_image(some):
    np.testing.assert_array_equal(World(n=4000).render(some).images, World(n=9999).render(some).images)


@pytest.mark.parametrize("size", GOLDEN)
def test_pixels_stay_as_they_were_unless_the_version_is_bumped(size):
    every = dict.fromkeys(SHARES, 0.5)
    plain, full = World(size=size), World(size=size, **every)
    clips = World(size=size, frames=4, **every)
    shown = [world.render(range(2 * len(SHAPES))).images.tobytes() for world in (plain, full, clips)]
    assert World.version == 3
    assert checksum(b"".join(shown)) == GOLDEN[size]


def test_splitmix_gives_the_numbers_of_the_reference_implementation():
    # The first outputs of Vigna's splitmix64.c from state 0: each call adds the step, then mixes.
    step = np.uint64(0x9E3779B97F4A7C15)
    states = np.arange(3, dtype=np.uint64) * step
    assert [hex(x) for x in mixed(states)] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4", "0x6c45d188009454f"]


@pytest.mark.parametrize("other", [World("test"), World(seed=1)])
def test_splits_and_seeds_share_no_image(other):
    ours, theirs = (
        {photo.checksum for photo in replace(world, n=300, size=32).read(range(300)).apart()}
        for world in (World(), other)
    )
    assert len(ours) == len(theirs) == 300
    assert not ours & theirs
    assert World("train").samples().ids[17] == "train-s0/000017"


# The listing


def test_classes_are_balanced():
    listed = World(n=100 * len(SHAPES)).samples()
    assert np.bincount(listed.labels).tolist() == [100] * len(SHAPES)


def test_every_class_leads_to_one_root():
    data = World(n=9).dataset()
    assert data.classes == tuple(SHAPES)
    for name in data.classes:
        while name in data.tree:
            name = data.tree[name]
        assert name == "shape"


def test_listing_renders_nothing(monkeypatch):
    monkeypatch.setattr(World, "render", lambda *_: pytest.fail("rendered while listing"))
    data = load_phantom("train", {"n": "50000"})
    assert len(data) == len(set(data.samples.ids)) == 50_000


def test_a_photo_carries_its_mask_box_and_checksum():
    data = load_phantom("test", {"size": "32"})
    (photo,) = data.read([3])
    assert photo.image.shape == (32, 32, 3)
    assert photo.image.dtype == np.uint8
    assert photo.maps["mask"].shape == (32, 32)
    assert photo.maps["mask"].dtype == bool
    assert photo.boxes.shape == (1, 4)
    assert photo.checksum == pixel_checksums(photo.image[None])[0]
    assert data.facts == {"masks", "boxes"}
    assert data.size == (32, 32)
    assert (len(data), len(load_phantom("train", {}))) == (1000, 4000)


def test_an_index_past_the_end_is_refused():
    with pytest.raises(ValueError, match=r"expected indices in \[0, 8\], got 0 to 9"):
        World(n=9).render([0, 9])
    assert World(n=9).render([]).images.shape == (0, 64, 64, 3)
