"""The pool of cut-outs: what is read, what is refused, and what its fingerprint follows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen.data.occluders import (
    LONGEST,
    MOST,
    covering,
    fit_cutouts,
    from_images,
    nearest,
    read_occluders,
    scaled_sides,
)
from snellen.errors import UserError


def save(path: Path, alpha: np.ndarray, colour: int = 90) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rgb = np.full((*alpha.shape, 3), colour)
    Image.fromarray(np.concatenate([rgb, alpha[:, :, None]], 2).astype(np.uint8)).save(path)


def block(rows: int = 20, columns: int = 30) -> np.ndarray:
    """A block of 6 × 10 covering pixels in a clear image."""
    alpha = np.zeros((rows, columns))
    alpha[4:10, 7:17] = 255
    return alpha


def test_a_cutout_is_cropped_to_what_covers_and_hardened(tmp_path: Path) -> None:
    alpha = block()
    alpha[3, 7:17] = 127  # half transparent at most: does not cover
    alpha[10, 7] = 128
    save(tmp_path / "a" / "one.png", alpha)
    pool = read_occluders(tmp_path)
    assert pool.ids == ("a/one.png",)
    assert pool.cutouts[0].shape == (7, 10, 4)
    assert np.unique(pool.cutouts[0][:, :, 3]).tolist() == [0, 255]
    assert (pool.cutouts[0][:, :, 3] == 255).sum() == 61


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        (np.full((5, 5), 255), r"cut-out '.*x\.png' has no transparency; save the object alone"),
        (np.zeros((5, 5)), r"cut-out '.*x\.png' is wholly transparent; it would cover nothing"),
        (np.full((5, 5), 100), r"cut-out '.*x\.png' is wholly transparent"),
    ],
)
def test_what_cannot_be_a_cutout_is_named(tmp_path: Path, alpha: np.ndarray, message: str) -> None:
    save(tmp_path / "good.png", block())
    save(tmp_path / "x.png", alpha)
    with pytest.raises(UserError, match=message):
        read_occluders(tmp_path)


def test_grey_opaque_damaged_and_missing_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder '.*nowhere' of cut-outs; give occluders a folder of PNGs"):
        read_occluders(tmp_path / "nowhere")
    with pytest.raises(UserError, match="holds no cut-outs; put PNGs with transparency into it"):
        read_occluders(tmp_path)
    Image.new("L", (4, 4)).save(tmp_path / "grey.png")
    with pytest.raises(UserError, match="'.*grey.png' has no transparency"):
        read_occluders(tmp_path)
    (tmp_path / "grey.png").write_bytes(b"\x89PNG nothing")
    with pytest.raises(UserError, match="cut-out '.*grey.png' cannot be decoded"):
        read_occluders(tmp_path)


def test_the_fingerprint_follows_names_and_content(tmp_path: Path) -> None:
    save(tmp_path / "a.png", block())
    first = read_occluders(tmp_path).fingerprint
    save(tmp_path / "a.png", block())  # the same again, at another time
    (tmp_path / ".hidden.png").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("not an image")
    assert read_occluders(tmp_path).fingerprint == first
    save(tmp_path / "a.png", block(), colour=91)
    assert read_occluders(tmp_path).fingerprint != first


def test_of_too_many_a_hash_of_their_names_chooses_and_large_ones_are_kept_smaller(tmp_path: Path) -> None:
    for number in range(MOST + 4):
        save(tmp_path / f"{number}.png", block())
    pool = read_occluders(tmp_path)
    assert (len(pool.ids), pool.total) == (MOST, MOST + 4)
    large = np.zeros((2 * LONGEST + 2, 60, 4), np.uint8)
    large[1:-1, 10:50] = 255
    assert from_images([large]).cutouts[0].shape == (LONGEST, 20, 4)


def test_sizes_keep_the_aspect_and_end_where_the_image_does() -> None:
    sides = scaled_sides((6, 10), 32, 20)
    assert sides[0].tolist() == [0, 0]
    assert sides[-1].tolist() == [12, 20]
    assert sides[5].tolist() == [3, 5]
    assert scaled_sides((1, 100), 10, 10)[3].tolist() == [1, 3]  # however thin, a row stays
    np.testing.assert_array_equal(nearest(10, 5), np.repeat(np.arange(5), 2))
    np.testing.assert_array_equal(nearest(5, 5), np.arange(5))
    np.testing.assert_array_equal(nearest(3, 9), [1, 4, 7])


def test_the_reach_of_a_full_square_is_one_and_of_a_disc_a_quarter_of_pi() -> None:
    rows, columns = np.mgrid[:200, :200]
    disc = np.zeros((200, 200, 4), np.uint8)
    disc[(2 * rows - 199) ** 2 + (2 * columns - 199) ** 2 <= 199**2] = 255
    square = np.zeros((12, 12, 4), np.uint8)
    square[1:11, 1:11] = 255
    assert from_images([square]).reach(32, 32) == 1
    assert from_images([square]).reach(32, 64) == 0.5
    assert from_images([disc]).reach(64, 64) == pytest.approx(np.pi / 4, abs=0.01)
    assert from_images([disc, square]).reach(64, 64) == 1


def test_a_large_cutout_is_averaged_without_the_colour_under_its_transparency() -> None:
    image = np.full((64, 64, 4), 255, np.uint8)
    image[:, :, 3] = 0
    rows, columns = np.mgrid[:64, :64]
    image[(2 * rows - 63) ** 2 + (2 * columns - 63) ** 2 <= 48**2] = (10, 200, 30, 255)
    pool = from_images([image])
    (small,) = fit_cutouts(pool, 16, 16)
    assert small.shape == (16, 16, 4)
    assert np.abs(small[small[:, :, 3] > 0].astype(int) - (10, 200, 30, 255)).max() <= 1
    assert covering(pool, 16, 16)[0][-1] == pytest.approx(np.pi * 64, rel=0.05)
