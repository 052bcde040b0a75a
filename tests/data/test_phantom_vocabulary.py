"""What the phantom world is made of: shapes with parts, textures and scenes that cannot be mistaken for each other."""

from __future__ import annotations

import hashlib
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.data.phantom.colours import ramps
from snellen.data.phantom.fixed_point import blurred, speckled
from snellen.data.phantom.scenes import HEIGHT, MARGIN, SCENES, UNIT, WIDTH, panoramas
from snellen.data.phantom.shapes import GRID, INSIDE, PARTS, RADIUS, SHAPES, class_tree, parts, silhouettes
from snellen.data.phantom.textures import TEXTURES, TILE, tiles

GOLDEN = {
    "silhouettes": "fbef5d6bf91638df1aebb4924e647bf2",
    "parts": "75eff9f6590cc806cb177f00640aaf19",
    "tiles": "2d414a699fd58cf30b659aaf5f3e5516",
    "panoramas": "e98cd7c343eb5801156ec16a0604f418",
}

DEPTHS = {
    1: {"heart"},
    2: {"disc", "ring", "crescent"},
    3: {"square", "triangle", "cross", "arrow"},
    4: {"sparkle", "star", "hexagram", "burst"},
}


def test_pixels_stay_as_they_were():
    drawn = {"silhouettes": silhouettes(8), "parts": parts(), "tiles": tiles(2), "panoramas": panoramas(2)}
    assert {name: array.dtype for name, array in drawn.items()} == dict.fromkeys(drawn, np.uint8)
    assert {name: hashlib.sha256(array.tobytes()).hexdigest()[:32] for name, array in drawn.items()} == GOLDEN


def test_there_are_twelve_of_each_so_that_every_class_has_its_own_texture_and_scene():
    assert len(SHAPES) == len(TEXTURES) == len(SCENES) == 12


# The class tree


def chain(name: str) -> list[str]:
    """The nodes above a class, from its parent to the root."""
    above = []
    while name in class_tree():
        name = class_tree()[name]
        above.append(name)
    return above


@pytest.mark.parametrize(("depth", "names"), DEPTHS.items())
def test_leaves_lie_one_to_four_levels_below_the_root(depth, names):
    assert {name for name in SHAPES if len(chain(name)) == depth} == names
    assert {chain(name)[-1] for name in names} == {"shape"}


def test_the_four_stars_share_a_parent_and_no_node_has_an_only_child():
    children = Counter(class_tree().values())
    assert children["starry"] == 4
    assert min(children.values()) >= 2
    assert set(children) == set(class_tree()) - set(SHAPES) | {"shape"}


# Silhouettes


def at_pixels(side: int, degrees: float) -> np.ndarray:
    """Every silhouette turned about its centre, its circle spanning `side` pixels: bool [classes, side, side]."""
    pixel = (2 * np.arange(side) + 1) / side - 1
    turn = np.deg2rad(degrees)
    u = np.cos(turn) * pixel[None, :] + np.sin(turn) * pixel[:, None]
    v = np.cos(turn) * pixel[:, None] - np.sin(turn) * pixel[None, :]
    column, row = (np.floor((axis + 1) * GRID / 2).astype(int) for axis in (u, v))
    within = (column >= 0) & (column < GRID) & (row >= 0) & (row < GRID)
    return (silhouettes(8)[:, row.clip(0, GRID - 1), column.clip(0, GRID - 1)] > 0) & within


def overlaps(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Intersection over union of every pair, [first, second]."""
    a, b = (masks.reshape(len(masks), -1).astype(float) for masks in (first, second))
    shared = a @ b.T
    return shared / (a.sum(axis=1)[:, None] + b.sum(axis=1) - shared)


@pytest.mark.parametrize("side", [16, 32])  # an object of half the image, and of the whole, at 32 pixels
def test_a_turned_silhouette_is_nearest_to_its_own_class(side):
    known, asked = np.arange(-25, 26, 5), np.arange(-22.5, 25, 5)
    found = overlaps(
        np.concatenate([at_pixels(side, turn) for turn in asked]),
        np.concatenate([at_pixels(side, turn) for turn in known]),
    )
    by_class = found.reshape(len(asked), 12, len(known), 12).max(axis=2)
    own = np.eye(12, dtype=bool)
    margin = by_class[:, own] - np.where(own, 0, by_class).max(axis=2)
    assert margin.min() > 0.08


def test_no_silhouette_is_thin():
    drawn = silhouettes(rim=2 * GRID // 32)  # the rim of an image of 32 pixels
    area, inside = (drawn > 0).sum(axis=(1, 2)), (drawn == INSIDE).sum(axis=(1, 2))
    assert (area / (math.pi * (GRID / 2) ** 2)).min() > 0.3
    assert (inside / area).min() > 0.4


@pytest.mark.parametrize(
    ("name", "points", "inner"), [("sparkle", 4, 370), ("star", 5, 446), ("hexagram", 6, 577), ("burst", 8, 640)]
)
def test_a_star_has_the_area_of_its_triangles_and_looks_the_same_turned_by_a_point(name, points, inner):
    sheet = list(SHAPES).index(name)
    cells = (silhouettes(8)[sheet] > 0).sum()
    assert cells * (2 * RADIUS / GRID) ** 2 == pytest.approx(
        points * 1000 * inner * math.sin(math.pi / points), rel=0.01
    )
    turned = [at_pixels(128, share * 360 / points)[sheet][None] for share in (0, 1, 0.5)]
    assert overlaps(turned[0], turned[1]) > 0.95
    assert overlaps(turned[0], turned[2]) < 0.85


# Parts


def test_the_parts_of_a_class_tile_its_silhouette():
    np.testing.assert_array_equal(parts() > 0, silhouettes(8) > 0)


def test_parts_are_numbered_by_class_and_every_one_can_be_seen():
    number = 0
    for sheet, (name, shape) in zip(parts(), SHAPES.items()):
        assert 1 <= len(shape.parts) <= 4
        counts = np.bincount(sheet[sheet > 0], minlength=len(PARTS) + 1)
        for part in shape.parts:
            number += 1
            assert PARTS[number - 1] == f"{name} {part}"
            assert counts[number] / counts.sum() > 0.1
            counts[number] = 0
        assert counts.sum() == 0  # nothing of another class
    assert number == len(PARTS) == len(set(PARTS))


@pytest.mark.parametrize(
    ("part", "area"),
    [
        ("disc middle", math.pi * 520**2),
        ("disc border", math.pi * (880**2 - 520**2)),
        ("ring upper half", math.pi * (980**2 - 500**2) / 2),
        ("square middle", 1400**2 / 2),
        ("square corners", 1400**2 / 2),
        ("triangle peak", 800**2 / math.sqrt(3)),
        ("star core", math.pi * 446**2),
        ("burst core", math.pi * 640**2),
        ("cross centre", 620**2),
        ("cross upright", 620 * 1280),
        ("cross crossbar", 620 * 1280),
        ("arrow head", 1600 * 950 / 2),
        ("arrow shaft", 1010 * 600),
    ],
)
def test_a_part_has_the_area_that_geometry_gives(part, area):
    cells = (parts() == PARTS.index(part) + 1).sum()
    assert cells * (2 * RADIUS / GRID) ** 2 == pytest.approx(area, rel=0.015)


def test_mirror_parts_are_mirror_images():
    by_name = {name: parts()[list(SHAPES).index(name.split()[0])] == number for number, name in enumerate(PARTS, 1)}
    for first, second, axis in (
        ("heart left lobe", "heart right lobe", 1),
        ("crescent upper horn", "crescent lower horn", 0),
        ("ring upper half", "ring lower half", 0),
    ):
        flipped = np.flip(by_name[first], axis)
        assert overlaps(flipped[None], by_name[second][None]) > 0.97


# Textures


def spectrum(tile: np.ndarray, degrees: float) -> np.ndarray:
    """The Fourier transform of a turned tile at 64 pixels, with mean 0 and norm 1 (a plain one stays 0)."""
    cell = np.arange(64) * (TILE // 64)
    turn = np.deg2rad(degrees)
    u = np.floor(np.cos(turn) * cell[None, :] + np.sin(turn) * cell[:, None]).astype(int) % TILE
    v = np.floor(np.cos(turn) * cell[:, None] - np.sin(turn) * cell[None, :]).astype(int) % TILE
    tones = tile[v, u].astype(float)
    tones -= tones.mean()
    return np.fft.fft2(tones / max(np.linalg.norm(tones), 1))


@pytest.mark.parametrize("blur", [2, 11])  # of images of 128 and 32 pixels
def test_no_texture_shifted_turned_or_inverted_matches_another(blur):
    drawn = tiles(blur)
    turned = np.stack([[spectrum(tile, degrees) for degrees in range(-45, 46, 5)] for tile in drawn])
    for index, tile in enumerate(drawn):
        match = abs(np.fft.ifft2(spectrum(tile, 0) * turned.conj()).real).max(axis=(1, 2, 3))
        assert match[index] == pytest.approx(float(tile.max() > 0))  # itself, unturned
        assert np.delete(match, index).max() < 0.7


def test_only_one_texture_is_plain_and_the_others_show_both_colours():
    means = tiles(2).mean(axis=(1, 2))
    assert [name for name, mean in zip(TEXTURES, means) if mean == 0] == ["plain"]
    assert (means[1:] > 50).all()
    assert (means[1:] < 205).all()


@pytest.mark.parametrize("axis", [1, 2])
def test_tiles_wrap_around_without_a_seam(axis):
    drawn = tiles(2)
    blobs = list(TEXTURES).index("blobs")
    repeats = (drawn == np.roll(drawn, TILE // 2, axis)).all(axis=(1, 2))
    assert np.flatnonzero(~repeats).tolist() == [blobs]  # what repeats within the tile cannot break at its end
    changes = abs(np.diff(drawn[blobs].astype(int), axis=axis - 1, append=drawn[blobs].take([0], axis - 1)))
    along = changes.mean(axis=2 - axis)
    assert along[-1] <= along[:-1].max()


@pytest.mark.parametrize("blur", [2, 5, 11, 22])
def test_softening_keeps_how_much_of_each_colour_a_texture_has(blur):
    np.testing.assert_allclose(tiles(blur).mean(axis=(1, 2)), tiles(1).mean(axis=(1, 2)), atol=1)


# Scenes


def windows(count: int, size: int) -> np.ndarray:
    """Random windows of every scene, as tones uint8 [scenes, count, size, size]."""
    draw = np.random.default_rng(0)
    drawn = panoramas(max(UNIT // size, 2))
    shown = np.empty((len(SCENES), count, size, size), np.uint8)
    for scene in range(len(SCENES)):
        for index in range(count):
            side = draw.integers(UNIT * 85 // 100, UNIT * 115 // 100)
            top, left = draw.integers(MARGIN, HEIGHT - MARGIN - side), draw.integers(MARGIN, WIDTH - MARGIN - side)
            offset = (2 * np.arange(size) + 1) * side // (2 * size)
            shown[scene, index] = drawn[scene][np.ix_(top + offset, left + offset)]
    return shown


def neighbours(features: np.ndarray) -> np.ndarray:
    """The scene of each window's nearest other window, [scenes, count], from features [scenes, count, n]."""
    scenes, count, _ = features.shape
    flat = features.reshape(scenes * count, -1)
    distance = abs(flat[:, None] - flat).sum(axis=-1)
    np.fill_diagonal(distance, np.inf)
    return distance.argmin(axis=1).reshape(scenes, count) // count


def histogram(codes: np.ndarray, bins: int) -> np.ndarray:
    """The share of each code in each window, [scenes, count, bins]."""
    return (codes.reshape(*codes.shape[:2], -1, 1) == np.arange(bins)).mean(axis=2)


@pytest.mark.parametrize("size", [32, 64])
def test_a_window_has_the_colours_of_its_own_scene(size):
    packed = ramps(np.array([scene.colours for scene in SCENES.values()]))
    palette = np.stack([packed >> shift & 255 for shift in (0, 8, 16)], axis=-1)
    tones = windows(12, size)
    colours = np.stack([table[shown] for table, shown in zip(palette, tones)]) // 64
    found = neighbours(histogram(colours @ np.array([16, 4, 1]), 64))
    assert (found == np.arange(len(SCENES))[:, None]).all()


@pytest.mark.parametrize("size", [32, 64])
def test_a_window_is_known_without_its_colours(size):
    tones = windows(12, size).astype(float)
    steps = [abs(np.diff(tones, axis=axis)).mean(axis=(2, 3)) / 100 for axis in (2, 3)]
    found = neighbours(np.concatenate([histogram(tones // 16, 16), np.stack(steps, axis=-1)], axis=-1))
    assert (found == np.arange(len(SCENES))[:, None]).mean() > 0.97


def test_scenes_are_drawn_in_whole_numbers_within_the_palette():
    x, y = np.arange(WIDTH)[None, :], np.arange(HEIGHT)[:, None]
    for scene in SCENES.values():
        tones = scene.panorama(x, y)
        assert tones.dtype == np.int64
        assert tones.min() >= 0
        assert 200 < tones.max() <= 255
        assert tones.max() - tones.min() > 200


# Drawing


@given(pitch=st.integers(8, 60), share=st.integers(2, 5), name=st.text(max_size=4))
def test_a_speck_is_whole_and_does_not_touch_the_next(pitch, share, name):
    radius = pitch // (2 * share)
    cells = np.arange(4 * pitch)
    specks = speckled(name, pitch, radius, cells[None, :], cells[:, None]).reshape(4, pitch, 4, pitch)
    for square in specks.transpose(0, 2, 1, 3).reshape(16, pitch, pitch):
        rows, columns = np.nonzero(square)
        if len(rows):
            assert np.ptp(rows) == np.ptp(columns) < 2 * radius
            speck = square[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
            assert (speck == speck[::-1]).all()
            assert (speck == speck.T).all()
            assert not square[0].any()
            assert not square[:, 0].any()


@pytest.mark.parametrize("width", [1, 2, 3, 8])
def test_blurring_is_the_rounded_mean_of_the_cells_around(width):
    tones = np.random.default_rng(0).integers(0, 256, (9, 10))
    reach = np.arange(width) - (width - 1 - width // 2)
    down = np.array(
        [[math.floor(tones[(row + reach) % 9, column].mean() + 0.5) for column in range(10)] for row in range(9)]
    )
    both = np.array(
        [[math.floor(down[row, (column + reach) % 10].mean() + 0.5) for column in range(10)] for row in range(9)]
    )
    np.testing.assert_array_equal(blurred(tones, width), both)
