"""Marks and colour terms: facts of a single pixel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.data.colour_names import colour_terms
from snellen.data.phantom import COLOURS, World, marks
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.textures import TEXTURES

colours = st.tuples(*[st.integers(0, 255)] * 3)


def unpacked(packed: np.ndarray) -> np.ndarray:
    return np.stack([packed & 255, packed >> 8 & 255, packed >> 16], axis=-1).astype(np.uint8)


@given(colour=colours, code=st.integers(0, 63))
def test_a_mark_is_read_back_and_moves_no_channel_by_more_than_three(colour, code):
    packed = np.array([[colour[0] + 256 * colour[1] + 65536 * colour[2]]], np.uint32)
    marked = unpacked(marks.write(packed, np.array([[code]])))
    assert marks.read(marked).tolist() == [[code]]
    assert abs(marked[0, 0].astype(int) - colour).max() <= 3
    assert (marked[0, 0] >> 2).tolist() == [channel >> 2 for channel in colour]


def test_the_codes_have_room_for_every_scene_and_texture():
    assert len(SCENES) <= marks.MAIN
    assert len(TEXTURES) <= marks.OTHER - marks.MAIN


def test_one_mark_looks_like_noise_over_many_colours():
    packed = np.arange(1 << 18, dtype=np.uint32)
    spread = (packed & 0x3F) << 2 | (packed & 0xFC0) << 4 | (packed & 0x3F000) << 6
    marked = unpacked(marks.write(spread, np.array(5)))
    low = (marked & 3).reshape(-1, 3) @ np.array([1, 4, 16])
    counts = np.bincount(low, minlength=64)  # 4096 expected in each of 64 cells
    assert 20 < ((counts - 4096) ** 2 / 4096).sum() < 130  # 63 degrees of freedom: mean 63, sd 11


def test_marks_survive_what_copies_pixels_and_only_that():
    images = World(size=32).render(range(20)).images
    codes = marks.read(images)
    np.testing.assert_array_equal(marks.read(images[:, ::-1, ::-1]), codes[:, ::-1, ::-1])
    np.testing.assert_array_equal(marks.read(np.roll(images, 7, axis=2)), np.roll(codes, 7, axis=2))
    brighter = (images.astype(int) * 9 // 10).astype(np.uint8)
    assert (marks.read(brighter) == codes).mean() < 0.1


# The colours that bear a basic term's name in CSS (Color Module Level 4)
@pytest.mark.parametrize(
    ("name", "colour"),
    [
        ("black", (0, 0, 0)),
        ("white", (255, 255, 255)),
        ("grey", (128, 128, 128)),
        ("red", (255, 0, 0)),
        ("orange", (255, 165, 0)),
        ("yellow", (255, 255, 0)),
        ("green", (0, 128, 0)),
        ("blue", (0, 0, 255)),
        ("purple", (128, 0, 128)),
        ("pink", (255, 192, 203)),
        ("brown", (165, 42, 42)),
        ("red", (139, 0, 0)),  # darkred
        ("orange", (255, 140, 0)),  # darkorange
        ("green", (0, 100, 0)),  # darkgreen
        ("blue", (173, 216, 230)),  # lightblue
        ("pink", (255, 105, 180)),  # hotpink
        ("brown", (139, 69, 19)),  # saddlebrown
        ("green", (144, 238, 144)),  # lightgreen
        ("grey", (211, 211, 211)),  # lightgrey
    ],
)
def test_css_colours_are_called_what_css_calls_them(name, colour):
    assert COLOURS[colour_terms(np.array(colour, np.uint8)) - 1] == name


def test_each_of_the_eleven_terms_is_used():
    levels = np.arange(0, 256, 15, dtype=np.uint8)
    every = np.stack(np.meshgrid(levels, levels, levels), axis=-1)
    assert set(np.unique(colour_terms(every))) == set(range(1, len(COLOURS) + 1))
    assert len(COLOURS) == 11


@pytest.mark.parametrize("flat", marks.FLAT)
def test_a_flat_fill_reads_as_nothing_and_no_pixel_of_the_world_has_its_colour(flat):
    assert marks.read(np.full((1, 4, 4, 3), flat, np.uint8)).tolist() == [[[marks.NOTHING] * 4] * 4]
    near = np.array([[sum((channel & 252) << 8 * place for place, channel in enumerate(flat))]], np.uint32)
    for code in (*range(len(SCENES)), *range(marks.MAIN, marks.MAIN + 12), *range(marks.OTHER, marks.OTHER + 12)):
        marked = unpacked(marks.write(near, np.array([[code]])))
        assert marks.read(marked).tolist() == [[code]]
        assert tuple(marked[0, 0].tolist()) != flat
