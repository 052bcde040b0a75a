"""Cut-outs on images: the share, the pixels, the place and the draws."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen import distort
from snellen.data.occluders import Occluders, from_images
from snellen.data.phantom import World
from snellen.distort import View, parse, show


def cutout(kind: str, rows: int, columns: int) -> np.ndarray:
    """RGBA of a rectangle or an ellipse of this size; red counts columns, green rows."""
    at = np.mgrid[:rows, :columns]
    within = ((2 * at[0] + 1 - rows) / rows) ** 2 + ((2 * at[1] + 1 - columns) / columns) ** 2 <= 1
    alpha = within if kind == "ellipse" else np.ones((rows, columns), bool)
    rgba = np.stack([at[1] % 200 + 1, at[0] % 200 + 1, np.full((rows, columns), 77), 255 * alpha], 2)
    return np.pad(rgba, ((1, 1), (1, 1), (0, 0))).astype(np.uint8)


def view(pool: Occluders, count: int, seed: int = 0) -> View:
    return View.of([f"image {i}" for i in range(count)], seed, occluders=pool)


def blank(count: int, height: int, width: int) -> torch.Tensor:
    return torch.full((count, 3, height, width), 250, dtype=torch.uint8)


@settings(max_examples=60)
@given(
    kind=st.sampled_from(["ellipse", "rectangle"]),
    sides=st.tuples(st.integers(6, 90), st.integers(6, 90)),
    canvas=st.tuples(st.integers(16, 72), st.integers(16, 72)),
    share=st.floats(0.02, 1),
)
def test_the_covered_share_is_exact_to_a_pixel_row_or_the_image_counts_nowhere(
    kind: str, sides: tuple[int, int], canvas: tuple[int, int], share: float
) -> None:
    pool = from_images([cutout(kind, *sides)])
    known = view(pool, 5)
    cover = parse(f"cutouts({share!r})").cover(blank(5, *canvas), known)
    counts = cover.flatten(1).sum(1).numpy()
    if share <= pool.reach(*canvas):
        assert np.abs(counts - share * canvas[0] * canvas[1]).max() <= max(canvas)
        assert "excluded" not in known.notes
    else:
        assert (counts == 0).all()
        assert known.notes["excluded"].all()


def test_at_its_own_size_a_cutout_is_pasted_pixel_by_pixel_and_mirrored_by_a_fair_coin() -> None:
    """36 of 400 pixels are a rectangle of 4 × 9: its own size, so its pixels appear as they are."""
    out = parse("cutouts(0.09)")(blank(400, 20, 20), view(from_images([cutout("rectangle", 4, 9)]), 400)).numpy()
    places, mirrored = [], 0
    for image in out:
        rows, columns = np.nonzero(image[2] == 77)
        assert len(rows) == 36
        top, left = rows.min(), columns.min()
        patch = image[:2, top : top + 4, left : left + 9]
        flipped = patch[0, 0, 0] != 1
        mirrored += flipped
        np.testing.assert_array_equal(patch[0][:, ::-1] if flipped else patch[0], np.tile(np.arange(1, 10), (4, 1)))
        np.testing.assert_array_equal(patch[1], np.tile(np.arange(1, 5)[:, None], (1, 9)))
        places.append((top, left))
        assert (image == 250).all(0).sum() == 400 - 36
    assert 160 < mirrored < 240
    assert {top for top, _ in places} == set(range(17))
    assert {left for _, left in places} == set(range(12))


def test_what_is_transparent_stays_the_image() -> None:
    frame = cutout("rectangle", 20, 20)
    frame[6:16, 6:16, 3] = 127
    images = torch.randint(0, 256, (6, 3, 40, 40), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    known = view(from_images([frame]), 6)
    out, cover = show(parse("cutouts(0.1875)"), images, known)  # 300 of 1,600 pixels: the frame as it is
    assert cover is not None
    assert cover.flatten(1).sum(1).tolist() == [300] * 6
    assert torch.equal(out.movedim(1, -1)[~cover], images.movedim(1, -1)[~cover])
    assert (out[:, 2][cover] == 77).all()


def test_all_of_a_pool_are_used_alike_and_the_same_one_at_every_share_it_can_cover() -> None:
    pool = from_images([cutout("rectangle", 20, 20), cutout("ellipse", 20, 20), cutout("rectangle", 4, 40)])
    told = []
    for share in (0.05, 0.08, 0.3, 0.9):
        known = view(pool, 600)
        parse(f"cutouts({share})").cover(blank(600, 32, 32), known)
        assert "excluded" not in known.notes
        told.append(known.notes["donor"])
    np.testing.assert_array_equal(told[0], told[1])
    assert all(150 < count < 250 for count in np.unique(told[0].astype(str), return_counts=True)[1])
    assert set(told[2]) == {"0", "1"}  # the stick covers at most a tenth
    kept = told[0] != "2"
    np.testing.assert_array_equal(told[0][kept], told[2][kept])
    assert set(told[3]) == {"0"}


def test_objects_of_the_phantom_world_make_cutouts_in_one_call() -> None:
    truth = World("test", size=32).truth(np.arange(4))
    things = [np.dstack([alone, 255 * mask.astype(np.uint8)]) for alone, mask in zip(truth.alone, truth.full)]
    photos = np.full((5, 48, 40, 3), 250, np.uint8)
    out = distort.apply("cutouts(0.2)", photos, occluders=things)
    assert out.shape == photos.shape
    share = (out != 250).any(-1).mean((1, 2))
    assert share == pytest.approx([0.2] * 5, abs=48 / (48 * 40))
    with pytest.raises(ValueError, match=r"cutouts\(share=0.2\) needs occluders \(a pool of cut-outs"):
        distort.apply("cutouts(0.2)", photos)
