"""Backgrounds: whose pixels they are, by hand on small images, and who lends to whom."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from snellen import distort
from snellen.distort import Background, Donors, View, parse
from snellen.distort.background import MIXED
from snellen.distort.blur import blurred
from snellen.distort.lenders import Lenders
from snellen.distort.strips import boxes_of, largest_strips, rectangles, spanned, tiled

GRID = torch.arange(16, dtype=torch.uint8).view(1, 1, 4, 4).expand(1, 3, 4, 4).contiguous()


def one(height: int, width: int, box: tuple[int, int, int, int], edge: str = "excluded") -> tuple[str, int, int]:
    strips = largest_strips(np.array([box]), height, width, edge)  # type: ignore[arg-type]
    return ("upright" if strips.upright[0] else "level"), int(strips.start[0]), int(strips.length[0])


def test_strips_of_the_public_code() -> None:
    """FACTS 5.2, (W, H, xmin, ymin, xmax, ymax) with an inclusive maximum and strips that begin at it."""
    assert one(8, 10, (3, 2, 6 + 1, 5 + 1), "included") == ("upright", 6, 4)
    assert one(8, 10, (5, 1, 9 + 1, 7 + 1), "included") == ("upright", 0, 5)


@pytest.mark.parametrize(
    ("box", "wanted"),
    [
        ((3, 2, 6, 5), ("upright", 6, 4)),  # 4 · 8 = 32 pixels against 3 · 10 below
        ((4, 2, 6, 6), ("upright", 6, 4)),  # left and right tie: right
        ((1, 2, 9, 6), ("level", 6, 2)),  # above and below tie: below
        ((5, 0, 10, 4), ("level", 4, 4)),  # 5 · 8 = 40 left, 4 · 10 = 40 below: not strictly more, so below
        ((0, 0, 10, 8), ("level", 8, 0)),  # no strip
        ((0, 1, 10, 8), ("level", 0, 1)),
    ],
)
def test_strips_by_hand(box: tuple[int, int, int, int], wanted: tuple[str, int, int]) -> None:
    assert one(8, 10, box) == wanted


def test_tiles_by_hand() -> None:
    """4 × 4, box over columns 0, 1 of rows 1, 2: the right strip is columns 2, 3, repeated from column 0."""
    out = tiled(GRID, np.array([[0, 1, 2, 3]]))[0, 0]
    assert out.tolist() == [[0, 1, 2, 3], [6, 7, 6, 7], [10, 11, 10, 11], [12, 13, 14, 15]]
    level = tiled(GRID, np.array([[1, 1, 4, 4]]))[0, 0]  # left 1 · 4, top 1 · 4: no strict winner, so the top row
    assert level.tolist() == [[0, 1, 2, 3], [4, 1, 2, 3], [8, 1, 2, 3], [12, 1, 2, 3]]
    whole = tiled(GRID, np.array([[0, 0, 4, 4]]))
    assert torch.equal(whole, GRID)


def test_tiles_start_at_the_images_corner() -> None:
    """Box over columns 0, 1, 2 of 4 and a strip of one column; and of 5 columns with a strip of two, which turns odd."""
    image = torch.arange(10, dtype=torch.uint8).view(1, 1, 2, 5).expand(1, 3, 2, 5)
    assert tiled(image, np.array([[1, 0, 3, 2]]))[0, 0].tolist() == [[0, 4, 3, 3, 4], [5, 9, 8, 8, 9]]


def known(box: tuple[float, ...] = (1, 1, 3, 3), mask: list[tuple[int, int]] | None = None, **more: object) -> View:
    held = torch.zeros(1, 4, 4, dtype=torch.bool)
    for row, column in mask or [(1, 1), (1, 2), (2, 2)]:
        held[0, row, column] = True
    return View.of(["own"], 0, boxes=[np.array([box])], masks=held, labels=np.array([0]), **more)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("original", [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]),
        ("only_bg_b", [[0, 1, 2, 3], [4, 0, 0, 7], [8, 0, 0, 11], [12, 13, 14, 15]]),
        ("only_bg_t", [[0, 1, 2, 3], [4, 13, 14, 7], [8, 13, 14, 11], [12, 13, 14, 15]]),
        ("no_fg", [[0, 1, 2, 3], [4, 0, 0, 7], [8, 9, 0, 11], [12, 13, 14, 15]]),
        ("only_fg", [[0, 0, 0, 0], [0, 5, 6, 0], [0, 0, 10, 0], [0, 0, 0, 0]]),
        ("mixed_rand", [[99, 99, 99, 99], [99, 5, 6, 99], [99, 99, 10, 99], [99, 99, 99, 99]]),
    ],
)
def test_variants_by_hand(kind: str, rows: list[list[int]]) -> None:
    pool = Donors(
        torch.full((1, 3, 4, 4), 99, dtype=torch.uint8), ("d",), "p", np.array([1]), [np.array([[0, 0, 1, 1]])]
    )
    view = known(donors=pool)
    assert parse(f"background({kind})")(GRID, view)[0, 2].tolist() == rows
    if kind == "mixed_rand":
        assert (view.notes["donor"][0], view.notes["donor_class"][0]) == ("d", "1")


def test_boxes_become_the_pixels_that_they_touch() -> None:
    """Floor of the minimum, ceil of the maximum, clipped; several boxes are spanned; floating error is no pixel."""
    boxes = [np.array([[1.2, 0.9, 2.1, 3.0]]), np.array([[0, 0, 1, 1], [2, 2, 9, 3.5]]), np.zeros((0, 4))]
    assert rectangles(boxes, 4, 4).tolist() == [[1, 0, 3, 3], [0, 0, 4, 4], [0, 0, 0, 0]]
    assert rectangles([np.array([[50, 0, 50, 50]]) * (224 / 100)], 224, 224)[0, 2] == 112
    mask = torch.zeros(2, 4, 5, dtype=torch.bool)
    mask[0, 1:3, 2:5] = True
    assert spanned(mask).tolist() == [[2, 1, 5, 3], [0, 0, 0, 0]]
    assert boxes_of(torch.zeros(2, 3, 4, 5), View.of("ab", masks=mask)).tolist() == [[2, 1, 5, 3], [0, 0, 0, 0]]


def test_a_box_that_fills_the_image_and_an_empty_object_count_nowhere() -> None:
    full, empty = known((0, 0, 4, 4)), known(mask=None)
    parse("background(only_bg_t)")(GRID, full)
    assert full.notes["excluded"].tolist() == [True]
    assert empty.masks is not None
    nothing = replace(empty, masks=torch.zeros_like(empty.masks), notes={})
    parse("background(only_fg)")(GRID, nothing)
    assert nothing.notes["excluded"].tolist() == [True]
    told = replace(empty, empty=np.array([True]), notes={})
    parse("background(only_fg)")(GRID, told)
    assert told.notes["excluded"].tolist() == [True]
    flat = known((1, 1, 1, 3))
    parse("background(only_bg_b)")(GRID, flat)
    assert flat.notes["excluded"].tolist() == [True]


def world(
    random: np.random.Generator, count: int, size: tuple[int, int], classes: int = 3
) -> tuple[torch.Tensor, View]:
    height, width = size
    images = torch.from_numpy(random.integers(0, 256, (count, 3, height, width), dtype=np.uint8))
    corners = np.sort(random.random((count, 2, 2)), axis=1) * [width, height]
    boxes = [np.array([[*low, *high]]) for low, high in corners]
    masks = torch.from_numpy(random.random((count, height, width)) < 0.4)
    labels = random.integers(0, classes, count)
    ids = tuple(f"image-{n}" for n in range(count))
    pool = Donors(images, ids, "pool", labels, boxes, masks, tuple("abc"), classes)
    return images, View.of(ids, 0, labels=labels, boxes=boxes, masks=masks, donors=pool)


@settings(max_examples=40)
@given(
    st.integers(0, 999), st.integers(1, 9), st.tuples(st.integers(2, 17), st.integers(2, 17)), st.sampled_from(MIXED)
)
def test_mixed_images_keep_the_object_and_take_all_else_from_a_donor_of_the_class(
    seed: int, count: int, size: tuple[int, int], kind: str
) -> None:
    images, view = world(np.random.default_rng(seed), count, size)
    out = Background(kind)(images, view)  # type: ignore[arg-type]
    assert view.masks is not None
    assert view.labels is not None
    assert view.donors is not None
    own = view.masks[:, None].expand_as(images)
    assert torch.equal(out[own], images[own])
    names = list(view.donors.ids)
    for row, (donor, named) in enumerate(zip(view.notes["donor"], view.notes["donor_class"])):
        if not donor:
            assert view.notes["excluded"][row]
            assert torch.equal(out[row], images[row])
            continue
        place = names.index(donor)
        label = int(view.labels[place])
        assert named == "abc"[label]
        if kind == "mixed_same":
            assert label == view.labels[row]
        if kind == "mixed_next":
            assert label == (view.labels[row] + 1) % 3
        lent = view.donors.backgrounds()[place]
        assert torch.equal(out[row][~own[row]], lent[~own[row]])
        box = rectangles([view.boxes[place]], *size)[0] if view.boxes else None  # outside its box a donor is as it was
        assert box is not None
        outside = torch.ones(size, dtype=torch.bool)
        outside[box[1] : box[3], box[0] : box[2]] = False
        assert torch.equal(lent[:, outside], images[place][:, outside])


@settings(max_examples=30)
@given(st.integers(0, 999), st.integers(1, 6), st.tuples(st.integers(2, 17), st.integers(2, 17)))
def test_no_fg_and_only_fg_add_up_to_the_image(seed: int, count: int, size: tuple[int, int]) -> None:
    images, view = world(np.random.default_rng(seed), count, size)
    without, alone = (parse(f"background({kind})")(images, view) for kind in ("no_fg", "only_fg"))
    assert torch.equal(without + alone, images)
    assert view.masks is not None
    assert not without.movedim(1, -1)[view.masks].any()
    assert not alone.movedim(1, -1)[~view.masks].any()


@settings(max_examples=30)
@given(st.integers(0, 999), st.sampled_from(["only_bg_b", "only_bg_t"]))
def test_only_the_box_changes_and_tiles_are_of_the_images_own_pixels(seed: int, kind: str) -> None:
    images, view = world(np.random.default_rng(seed), 4, (11, 13))
    out = parse(f"background({kind})")(images, view)
    for row, (x0, y0, x1, y1) in enumerate(boxes_of(images, view)):
        mask = torch.zeros(11, 13, dtype=torch.bool)
        mask[y0:y1, x0:x1] = True
        assert torch.equal(out[row][:, ~mask], images[row][:, ~mask])
        if kind == "only_bg_b":
            assert not out[row][:, mask].any()
        else:
            beside = {tuple(pixel) for pixel in images[row][:, ~mask].T.tolist()}
            assert all(tuple(pixel) in beside for pixel in out[row][:, mask].T.tolist())


@settings(max_examples=30)
@given(st.integers(0, 99), st.permutations(list(range(9))))
def test_the_order_of_the_pool_changes_nothing(seed: int, order: list[int]) -> None:
    images, view = world(np.random.default_rng(seed), 9, (5, 5))
    pool = view.donors
    assert pool is not None
    assert pool.labels is not None
    assert pool.boxes is not None
    turned = Donors(
        pool.images[order], tuple(pool.ids[n] for n in order), "p", pool.labels[order], [pool.boxes[n] for n in order],
        order=3,
    )  # fmt: skip
    again = replace(view, donors=turned, notes={})
    assert torch.equal(Background()(images, view), Background()(images, again))
    assert view.notes["donor"].tolist() == again.notes["donor"].tolist()


def test_classes_and_images_are_drawn_uniformly_and_oneself_only_where_allowed() -> None:
    """Class 0 has one image, class 1 two, class 2 three: each class a third, then each image alike."""
    lenders = Lenders([f"image-{n}" for n in range(6)], np.array([0, 1, 1, 2, 2, 2]), 3)
    many = View.of([f"borrower-{n}" for n in range(6000)], labels=np.ones(6000, np.int64))
    seen = np.bincount(lenders.choose(many.draw, None, "mixed_rand"), minlength=6) / 6000
    assert seen == pytest.approx([1 / 3, 1 / 6, 1 / 6, 1 / 9, 1 / 9, 1 / 9], abs=0.02)
    same = np.bincount(lenders.choose(many.draw, many.labels, "mixed_same"), minlength=6) / 6000
    assert same == pytest.approx([0, 0.5, 0.5, 0, 0, 0], abs=0.03)
    own = View.of([f"image-{n}" for n in range(6)], labels=lenders.labels)
    draws = np.stack(
        [lenders.choose(replace(own, seed=s).draw, own.labels, "mixed_same", own=False) for s in range(300)]
    )
    assert (draws[:, 0] == -1).all()  # alone in its class
    assert set(draws[:, 1]) == {2}
    assert set(draws[:, 4]) == {3, 5}
    assert (lenders.choose(own.draw, np.full(6, -1), "mixed_next") == -1).all()
    assert (Lenders([], np.array([], np.int64), 3).choose(own.draw, own.labels, "mixed_rand") == -1).all()


def test_blur_is_the_gaussian_of_scipy_and_leaves_the_object_sharp() -> None:
    image = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (1, 3, 40, 31), dtype=np.uint8))
    for sigma in (0.6, 2, 5):
        wanted = gaussian_filter(image[0].double().numpy(), (0, sigma, sigma), mode="nearest", truncate=4)
        assert np.abs(blurred(image, sigma)[0].numpy() - wanted).max() < 0.75
    mask = torch.zeros(1, 40, 31, dtype=torch.bool)
    mask[0, 5:9, 6:20] = True
    out = parse("background(bg_blurred, sigma=2)")(image, View.of("a", masks=mask))
    assert torch.equal(out, torch.where(mask[:, None], image, blurred(image, 2)))
    assert torch.equal(blurred(image, 0), image)


def test_opencv_fills_boxes_too() -> None:
    cv2 = pytest.importorskip("cv2")
    images, view = world(np.random.default_rng(1), 1, (20, 24))
    x0, y0, x1, y1 = boxes_of(images, view)[0]
    hole = np.zeros((20, 24), np.uint8)
    hole[y0:y1, x0:x1] = 1
    pixels = np.ascontiguousarray(images[0].permute(1, 2, 0).numpy())
    for name, method in (("telea", cv2.INPAINT_TELEA), ("ns", cv2.INPAINT_NS)):
        out = parse(f"background(only_bg_t, inpaint={name})")(images, view)[0].permute(1, 2, 0).numpy()
        assert np.array_equal(out, cv2.inpaint(pixels, hole, 3, method))


def test_needs_follow_from_the_kind() -> None:
    assert parse("background(original)").needs == set()
    assert parse("background(only_bg_b)").needs == {"boxes"}
    assert parse("background(no_fg)").needs == {"masks"}
    assert parse("background(mixed_rand)").needs == {"masks", "donors"}
    assert parse("background(mixed_next, foreground=box)").needs == {"boxes", "donors", "labels"}


def test_bad_values_are_told(photos: np.ndarray) -> None:
    with pytest.raises(Exception, match="unknown kind of background 'mixed_rnd'; did you mean 'mixed_rand'"):
        parse("background(mixed_rnd)")
    with pytest.raises(Exception, match=r"background: expected sigma in \[0, 1000\] pixels, got -1"):
        parse("background(bg_blurred, -1)")
    masks = np.ones((12, 32, 32), bool)
    with pytest.raises(ValueError, match="expected the donors' labels, to choose backgrounds by class"):
        distort.apply("background()", photos, donors=photos, masks=masks)
    _, view = world(np.random.default_rng(0), 2, (5, 5))
    with pytest.raises(ValueError, match=r"expected donors of shape \[3, 5, 6\], got \[3, 5, 5\]"):
        Background()(torch.zeros(2, 3, 5, 6, dtype=torch.uint8), replace(view, masks=torch.ones(2, 5, 6).bool()))
    nobody = Donors(torch.zeros(0, 3, 5, 5, dtype=torch.uint8), (), "p", np.zeros(0, np.int64), [])
    with pytest.raises(ValueError, match="expected at least one donor, got an empty pool"):
        Background()(torch.zeros(2, 3, 5, 5, dtype=torch.uint8), replace(view, donors=nobody))
