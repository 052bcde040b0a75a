"""The phantom world: what it says of an image is what the image shows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from snellen.data.phantom import World, phantom
from snellen.data.phantom.draws import mixed
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES, silhouettes
from snellen.data.phantom.textures import TEXTURES
from snellen.errors import UserError
from snellen.hashing import checksum, pixel_checksums

GOLDEN = {32: "895af797de01e0d7aad5ea4a6862ec7c", 64: "32334db98e295ee86187a23280ee591c"}


@pytest.fixture
def some() -> np.ndarray:
    return np.random.default_rng(0).choice(4000, 60, replace=False)


def own_share(names: np.ndarray, table: dict, labels: np.ndarray) -> float:
    return float(np.mean(np.array(list(table))[labels] == names))


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
    indices = list(SHAPES).index(name) + 9 * np.arange(20)
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
    assert (changed == (free.recipe(some).texture != bound.recipe(some).texture)).all()
    assert 0.7 < changed.mean() < 1


def test_only_background_pixels_change_with_the_scene(some):
    free, bound = World(background_bias=0), World(background_bias=1)
    before, after = free.render(some), bound.render(some)
    np.testing.assert_array_equal(before.masks, after.masks)
    np.testing.assert_array_equal(before.images[before.masks], after.images[before.masks])
    changed = (before.images != after.images).any(axis=(1, 2, 3))
    assert (changed == (free.recipe(some).scene != bound.recipe(some).scene)).all()
    assert 0.7 < changed.mean() < 1


def test_raising_a_bias_only_moves_images_to_their_own_scene():
    weak, strong = (World(background_bias=bias).samples() for bias in (0.3, 0.7))
    moved = weak.columns["scene"] != strong.columns["scene"]
    assert 0.25 < moved.mean() < 0.45  # 0.4 · 8/9 = 0.36
    assert own_share(strong.columns["scene"][moved], SCENES, strong.labels[moved]) == 1
    np.testing.assert_array_equal(weak.columns["texture"], strong.columns["texture"])
    np.testing.assert_array_equal(weak.columns["object_size"], strong.columns["object_size"])


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
    made = World(size=size, n=9).render(range(9))
    assert World.version == 1
    assert checksum(made.images.data) == GOLDEN[size]


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


@pytest.mark.parametrize("bias", [0, 0.25, 0.8])
def test_the_dials_can_be_measured_back_from_the_listing(bias):
    n = 20_000
    scenes, textures = World(n=n, background_bias=bias).samples(), World(n=n, texture_bias=bias).samples()
    expected = bias + (1 - bias) / 9
    error = 4 * math.sqrt(expected * (1 - expected) / n)
    assert own_share(scenes.columns["scene"], SCENES, scenes.labels) == pytest.approx(expected, abs=error)
    assert own_share(textures.columns["texture"], TEXTURES, textures.labels) == pytest.approx(expected, abs=error)
    assert own_share(scenes.columns["texture"], TEXTURES, scenes.labels) == pytest.approx(1 / 9, abs=0.01)


def test_the_two_biases_choose_their_images_independently():
    made = World(n=20_000, background_bias=0.5, texture_bias=0.5).recipe(np.arange(20_000))
    both = (made.scene == made.label) & (made.texture == made.label)
    assert both.mean() == pytest.approx((0.5 + 0.5 / 9) ** 2, abs=0.014)  # four standard errors


def test_at_bias_one_every_image_has_its_own_scene():
    listed = World(background_bias=1).samples()
    assert own_share(listed.columns["scene"], SCENES, listed.labels) == 1


def test_without_bias_scenes_and_textures_are_uniform_and_independent_of_class_and_each_other():
    made = World(n=72_900).recipe(np.arange(72_900))
    for first, second in ((made.label, made.scene), (made.label, made.texture), (made.scene, made.texture)):
        counts = np.bincount(first * 9 + second, minlength=81)  # 900 expected in each of 81 cells
        chi_squared = ((counts - 900) ** 2 / 900).sum()
        assert 40 < chi_squared < 140  # 80 degrees of freedom: mean 80, sd 12.6


def test_classes_are_balanced():
    assert np.bincount(World(n=900).samples().labels).tolist() == [100] * 9


def test_nine_of_each_and_every_class_leads_to_one_root():
    data = World(n=9).dataset()
    assert len(SHAPES) == len(TEXTURES) == len(SCENES) == len(data.classes) == 9
    for name in data.classes:
        while name in data.tree:
            name = data.tree[name]
        assert name == "shape"


def test_listing_renders_nothing(monkeypatch):
    monkeypatch.setattr(World, "render", lambda *_: pytest.fail("rendered while listing"))
    data = phantom("train", {"n": "50000"})
    assert len(data) == len(set(data.samples.ids)) == 50_000


def test_a_photo_carries_its_mask_box_and_checksum():
    data = phantom("test", {"size": "32"})
    (photo,) = data.read([3])
    assert photo.image.shape == (32, 32, 3)
    assert photo.image.dtype == np.uint8
    assert photo.maps["mask"].shape == (32, 32)
    assert photo.maps["mask"].dtype == bool
    assert photo.boxes.shape == (1, 4)
    assert photo.checksum == pixel_checksums(photo.image[None])[0]
    assert data.facts == {"masks", "boxes"}
    assert data.size == (32, 32)
    assert (len(data), len(phantom("train", {}))) == (1000, 4000)


def test_every_dial_is_part_of_the_fingerprint_and_none_by_how_it_is_written():
    changes = [{}, {"n": "8"}, {"size": "32"}, {"background_bias": "1"}, {"texture_bias": "1"}, {"seed": "1"}]
    prints = {phantom("train", {"n": "9", **change}).fingerprint for change in changes}
    prints.add(phantom("test", {"n": "9"}).fingerprint)
    assert len(prints) == 7
    assert World(background_bias=1, n=9).dataset().fingerprint in prints


# Errors


@pytest.mark.parametrize(
    ("split", "dials", "message"),
    [
        ("train", {"background_bias": "1.3"}, "expected background_bias in [0, 1], got 1.3"),
        ("train", {"texture_bias": "nan"}, "expected texture_bias in [0, 1], got nan"),
        ("train", {"texture_bias": "much"}, "expected texture_bias as a number, got 'much'"),
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
        phantom(split, dials)
    assert str(error.value) == message


def test_an_index_past_the_end_is_refused():
    with pytest.raises(ValueError, match=r"expected indices in \[0, 8\], got 0 to 9"):
        World(n=9).render([0, 9])
    assert World(n=9).render([]).images.shape == (0, 64, 64, 3)
