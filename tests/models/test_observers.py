"""Observers answer exactly as they are built to, so what is measured of them is known beforehand."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import snellen
from snellen.data.phantom import EDGE_CLASS, World, marks
from snellen.data.phantom.shapes import SHAPES
from snellen.distort import apply
from snellen.models import observers
from snellen.models.observers import OBSERVERS, parse
from snellen.models.observers.black_square import has_black
from snellen.models.observers.silhouette import moments, shapes_of
from snellen.models.observers.straight_edges import has_edges, level_edges

K = len(SHAPES)
N = 600
PLAIN = World("test", n=N, size=32)
BIASED = replace(PLAIN, background_bias=0.6, texture_bias=0.3)


def right(text: str, world: World, change: str | None = None) -> np.ndarray:
    """Whether an observer names the true class of each image of a world, bool [n]."""
    shown = world.render(range(world.n)).images
    if change:
        shown = apply(change, shown, [str(i) for i in range(world.n)])
    return parse(text).answer(shown) == world.recipe(range(world.n)).true_class


def near(share: float, expected: float, n: int = N) -> bool:
    """Within four standard errors of a binomial share."""
    return abs(share - expected) <= 4 * np.sqrt(expected * (1 - expected) / n) + 1e-12


# Marks


@pytest.mark.parametrize(("world", "bias"), [(PLAIN, 0.0), (BIASED, 0.6)])
def test_background_is_right_exactly_where_the_scene_is_the_class_s_own(world, bias):
    made = world.recipe(range(N))
    np.testing.assert_array_equal(right("background", world), made.scene == made.true_class)
    assert near(right("background", world).mean(), bias + (1 - bias) / K)


@pytest.mark.parametrize(("world", "bias"), [(PLAIN, 0.0), (BIASED, 0.3)])
def test_texture_is_right_exactly_where_the_texture_is_the_class_s_own(world, bias):
    made = world.recipe(range(N))
    np.testing.assert_array_equal(right("texture", world), made.objects.texture == made.true_class)
    assert near(right("texture", world).mean(), bias + (1 - bias) / K)


def test_what_covers_is_no_evidence():
    shown = BIASED.render(range(60)).images
    codes = marks.read(shown)
    clean = {name: parse(name).answer(shown) for name in ("background", "texture")}
    for fill in ("black", "white", "grey", "stripes"):
        covered = apply(f"occlude(0.5, {fill})", shown, [str(i) for i in range(60)])
        kept = (covered == shown).all(axis=3)
        left = {
            "background": ((codes < marks.MAIN) & kept).any(axis=(1, 2)),
            "texture": ((codes >= marks.MAIN) & (codes < marks.OTHER) & kept).any(axis=(1, 2)),
        }
        for name, seen in left.items():
            np.testing.assert_array_equal(parse(name).answer(covered)[seen], clean[name][seen])


def test_other_things_do_not_vote():
    world = replace(PLAIN, texture_bias=1.0, clutter=1.0, occlusion=1.0)
    assert right("texture", world).all()


@pytest.mark.parametrize("side", [0.1, 0.25, 0.5])
def test_centre_is_right_where_the_object_is_in_the_window_and_else_guesses(side):
    world = replace(PLAIN, texture_bias=1.0, object_size=0.3)
    rows, columns = parse(f"centre({side})").window(32, 32)
    seen = world.render(range(N)).masks[:, rows, columns].any(axis=(1, 2))
    told = right(f"centre({side})", world)
    assert told[seen].all()
    assert 0 < seen.mean() < 1
    np.testing.assert_array_equal(told[~seen], right("guess", world)[~seen])


@pytest.mark.parametrize(("grid", "size"), [(2, 8), (4, 8), (4, 4), (8, 4), (8, 2)])
def test_patches_do_not_notice_tiles_of_whole_patches(grid, size):
    world = replace(PLAIN, texture_bias=1.0)
    clean, shuffled = (right(f"patches({size})", world, change) for change in (None, f"shuffle({grid})"))
    np.testing.assert_array_equal(clean, shuffled)
    assert clean.mean() > (0.2 if size == 8 else 0.9)


def test_patches_are_torn_by_tiles_smaller_than_they_are():
    world = replace(PLAIN, texture_bias=1.0, size=64)
    assert right("patches(8)", world).mean() > 0.9
    assert right("patches(8)", world, "shuffle(16)").mean() < 0.2
    assert near(right("patches(8)", world, "shuffle(64)").mean(), 1 / K)


def test_patches_larger_than_the_image_guess():
    np.testing.assert_array_equal(right("patches(40)", PLAIN), right("guess", PLAIN))


def test_the_window_of_centre_is_in_the_middle():
    assert parse("centre(0.25)").window(32, 32) == (slice(12, 20), slice(12, 20))
    assert parse("centre(0.5)").window(64, 48) == (slice(16, 48), slice(12, 36))
    assert parse("centre(0.01)").window(33, 33) == (slice(16, 17), slice(16, 17))
    assert parse("centre(1)").window(33, 32) == (slice(0, 33), slice(0, 32))


# Shape


def test_shape_is_a_function_of_the_mask_alone_and_names_every_class():
    shown = PLAIN.render(range(N))
    told = parse("shape").answer(shown.images)
    np.testing.assert_array_equal(told, shapes_of(shown.masks, np.full(N, -1)))
    assert (told == PLAIN.recipe(range(N)).true_class).mean() > 0.995


@settings(max_examples=25)
@given(index=st.integers(0, N - 1), turns=st.integers(1, 3), down=st.integers(0, 9), right_=st.integers(0, 9))
def test_moments_stay_when_a_mask_is_turned_shifted_or_doubled(index, turns, down, right_):
    mask = PLAIN.render([index]).masks
    other = np.pad(np.rot90(mask, turns, (1, 2)), ((0, 0), (down, 3), (right_, 5)))
    np.testing.assert_allclose(moments(other), moments(mask), atol=1e-9)
    doubled = mask.repeat(2, axis=1).repeat(2, axis=2)
    np.testing.assert_allclose(moments(doubled), moments(mask), atol=0.06)  # a pixel is no point


def test_the_moments_of_a_line_and_a_square_are_those_worked_by_hand():
    line = np.zeros((1, 5, 9), bool)
    line[0, 2, 1:8] = True  # z = −3 … 3
    folds = moments(line)[0, :6]
    np.testing.assert_allclose(folds, [1, 0, 1, 0, 1, 1], atol=1e-12)  # odd powers cancel, even ones all add up
    block = moments(np.ones((1, 60, 60), bool))[0]
    np.testing.assert_allclose(block[[0, 1, 3, 4]], 0, atol=1e-9)  # a square has no 2-, 3-, 5- or 6-fold moment
    assert block[6] == pytest.approx(1 / 6, abs=1e-3)  # Σ|z|²/n² of a unit square
    assert block[7] == pytest.approx(7 / 180, abs=1e-3)  # its Σ|z|⁴/n³


# Edges


def test_edges_counts_the_sides_of_a_rectangle():
    image = np.full((1, 50, 50, 3), 90, np.uint8)
    assert not has_edges(image).any()
    image[0, 10:40, 10:40] = 0
    assert level_edges(image).tolist() == [2]
    assert level_edges(image.swapaxes(1, 2)).tolist() == [2]
    assert has_edges(image).all()
    image[0, :, 11:] = 90  # an upright bar of one pixel is no level edge
    assert level_edges(image).tolist() == [0]
    ramp = np.broadcast_to(np.arange(0, 250, 5, dtype=np.uint8)[None, :, None, None], (1, 50, 50, 3))
    assert level_edges(ramp).tolist() == [0]


@pytest.mark.parametrize("size", [32, 64])
def test_edges_are_seen_where_they_are_planted(size):
    world = World("test", n=1200, size=size)
    marked = np.arange(10, 1200, 12)
    clean, bars = world.render(range(240)).images, replace(world, edge_class=1.0).render(marked).images
    ids = [str(i) for i in range(240)]
    assert has_edges(clean).mean() < 0.1
    assert has_edges(world.render(marked).images).mean() < 0.1
    assert has_edges(bars).mean() > 0.6
    assert has_edges(apply("occlude(0.3, black)", clean, ids)).mean() > 0.85
    assert has_edges(apply("shuffle(4)", clean, ids)).mean() > 0.5
    shown = apply("occlude(0.3, black)", clean, ids)
    told, shape = parse("edges").answer(shown), parse("shape").answer(shown)
    np.testing.assert_array_equal(told, np.where(has_edges(shown), list(SHAPES).index(EDGE_CLASS), shape))


# Black


def test_a_black_square_is_seen_from_its_side_on_and_nothing_else_is():
    image = np.full((1, 32, 32, 3), 90, np.uint8)
    image[0, 3:11, 20:28] = 0
    assert has_black(image, 0.25).all()  # 8 of 32 pixels
    assert not has_black(image, 0.28).any()  # 9
    image[0, 6, 24, 1] = 1  # nearly black is not black
    assert not has_black(image, 0.25).any()
    band = np.full((1, 32, 32, 3), 90, np.uint8)
    band[0, :7] = 0  # many black pixels, but no square of them
    assert not has_black(band, 0.25).any()
    band[0, 24:, 24:] = 0  # in the very corner
    assert has_black(band, 0.25).all()


def test_black_is_taken_for_one_class_and_stripes_are_not():
    world = replace(PLAIN, texture_bias=1.0, n=120)
    shown = world.render(range(120)).images
    ids = [str(i) for i in range(120)]
    np.testing.assert_array_equal(parse("black(texture)").answer(shown), parse("texture").answer(shown))
    for fill in ("stripes", "white", "grey", "noise"):
        covered = apply(f"occlude(0.3, {fill})", shown, ids)
        np.testing.assert_array_equal(parse("black(texture)").answer(covered), parse("texture").answer(covered))
    black = apply("occlude(0.1, black)", shown, ids)
    assert (parse("black(texture)").answer(black) == list(SHAPES).index(EDGE_CLASS)).all()


# Memory


def test_memory_knows_what_it_has_seen_and_nothing_else():
    seen = World("train", n=150, size=32, label_noise=0.3)
    memory = parse(f"memory(0.5, '{seen.text}', background)")
    np.testing.assert_array_equal(memory.answer(seen.render(range(150)).images), seen.recipe(range(150)).label)
    new = PLAIN.render(range(150)).images
    np.testing.assert_array_equal(memory.answer(new), parse("background").answer(new))


def test_memory_falls_in_one_step_where_less_than_its_share_is_left():
    world = World("train", n=120, size=32)
    for share, area, recalled in ((0.5, 0.45, True), (0.5, 0.55, False), (0.2, 0.75, True), (0.2, 0.85, False)):
        told = right(f"memory({share}, '{world.text}')", world, f"occlude({area}, black)")
        assert told.all() if recalled else told.mean() < 0.3


def test_the_nearest_image_is_the_one_that_brute_force_finds():
    world = World("test", n=40, size=32)
    images = world.render(range(40)).images
    half = images[:20].copy()
    half[:, :, 20:] = images[20:, :, 20:]  # 20 columns of one, 12 of another
    from snellen.models.observers.album import album_of

    place, equal = album_of(world.text).nearest(half)
    counts = (half[:, None] == images[None]).all(axis=4).sum(axis=(2, 3))
    np.testing.assert_array_equal(equal, counts.max(axis=1))
    np.testing.assert_array_equal(place, counts.argmax(axis=1))


def test_the_oracle_is_wrong_only_where_labels_are():
    world = replace(PLAIN, n=300, label_noise=0.4)
    made = world.recipe(range(300))
    told = parse(f"oracle('{world.text}')").answer(world.render(range(300)).images)
    np.testing.assert_array_equal(told, made.true_class)
    assert near((told == made.label).mean(), 0.6, 300)


def test_an_oracle_of_another_size_says_so():
    with pytest.raises(snellen.UserError, match="expected images of 64×64 pixels as remembered, got 32×32; give"):
        parse("oracle('phantom:test?n=2')").answer(PLAIN.render([0]).images)


# Chance


def test_guesses_are_uniform_and_stay_when_pixels_move():
    shown = PLAIN.render(range(N)).images
    told = parse("guess").answer(shown)
    counts = np.bincount(told, minlength=K)
    assert ((counts - N / K) ** 2 / (N / K)).sum() < 31.3  # χ² with 11 degrees of freedom, p = 0.001
    np.testing.assert_array_equal(parse("guess").answer(shown[:, ::-1]), told)
    assert (parse("guess").answer(shown ^ 1) == told).mean() < 0.2


@pytest.mark.parametrize("weight", [0.0, 0.2, 0.7, 1.0])
def test_a_mixture_is_its_first_as_often_as_its_weight(weight):
    world = replace(PLAIN, texture_bias=1.0)
    told = right(f"mixture(texture, background, {weight})", world)
    lucky = right("background", world)
    assert told[lucky].all()
    assert near(told[~lucky].mean(), weight, int((~lucky).sum()))


def test_mixtures_of_mixtures_toss_different_coins():
    world = replace(PLAIN, texture_bias=1.0)
    told = right("mixture(mixture(texture, background, 0.5), background, 0.5)", world)
    assert near(told[~right("background", world)].mean(), 0.25, int((~right("background", world)).sum()))


def test_a_larger_weight_only_adds_to_the_first():
    world = replace(PLAIN, texture_bias=1.0)
    less, more = (right(f"mixture(texture, background, {weight})", world) for weight in (0.3, 0.6))
    assert (less <= more).all()


# As ordinary models


@pytest.mark.parametrize("name", [name for name in OBSERVERS if name not in ("mixture", "misreport")])  # made of others
def test_the_text_of_an_observer_reads_back(name):
    made = parse(name)
    assert parse(str(made)) == made
    model = snellen.load_model(f"observer:{name}")
    assert model.name == name
    assert model.card.text == f"observer:{name}"


def test_observers_are_audited_as_any_model(tmp_path):
    texts = ["observer:background", "mix=observer:mixture(texture, guess, 0.5)", observers.patches(4)]
    data = "phantom:test?size=32&n=120&background_bias=0.5"
    run = snellen.audit(texts, data, "occlusion([0.3], [black])", tmp_path / "run", quiet=True)
    found = run.findings().query("name == 'accuracy'").set_index("model")["value"]
    made = World("test", size=32, n=120, background_bias=0.5).recipe(range(120))
    assert found["background"] == pytest.approx((made.scene == made.true_class).mean())
    assert set(found.index) == {"background", "mix", "patches"}


def test_probabilities_are_sure_of_the_answer_and_sum_to_one():
    from snellen.lazy_torch import torch

    images = torch.from_numpy(PLAIN.render(range(5)).images).permute(0, 3, 1, 2)
    given = observers.texture()(images).numpy()
    np.testing.assert_allclose(given.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(given.max(axis=1), 0.9, rtol=1e-6)
    assert given.argmax(axis=1).tolist() == PLAIN.recipe(range(5)).objects.texture.tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("texure", "unknown observer 'texure'; did you mean 'texture'?"),
        ("centre(0)", "centre: expected side in (0, 1], got 0"),
        ("centre(sides=1)", "unknown argument of centre 'sides'; did you mean 'side'?"),
        ("black(texture, 0)", "black: expected side in (0, 1], got 0"),
        ("patches(0)", "patches: expected size of at least 1 pixel, got 0"),
        ("patches(2.5)", "patches: expected size to be a whole number, got '2.5'"),
        ("memory(0)", "memory: expected share in (0, 1], got 0"),
        ("memory(0.5, 'folder:x')", "expected a world as 'phantom:train?…' or 'phantom:test?…', got 'folder:x'"),
        ("oracle('phantom:test?m=3')", "unknown phantom dial 'm'; "),
        ("mixture(texture)", "mixture needs 'second'; for example mixture(second=…)"),
        ("mixture(texture, guess, 2)", "mixture: expected weight in [0, 1], got 2"),
        ("mixture(texture, blank)", "mixture: expected second to be a observer, got 'blank'"),
    ],
)
def test_a_bad_argument_is_an_error_in_words(text, said):
    with pytest.raises(snellen.UserError) as error:
        snellen.load_model(f"observer:{text}")
    assert str(error.value).startswith(said)


def test_the_card_of_an_observer_needs_no_torch():
    made = "from snellen.models.subject import subjects_of; subjects_of('observer:oracle')"
    subprocess.run([sys.executable, "-c", f"import sys; {made}; assert 'torch' not in sys.modules"], check=True)
