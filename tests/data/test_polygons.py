"""Polygons fill the pixels that pycocotools fills."""

from __future__ import annotations

import json

import numpy as np
import pytest

from snellen.data.polygons import filled_polygon
from snellen.data.segmentation import mask_of, rle
from snellen.errors import UserError

oracle = pytest.importorskip("pycocotools.mask")


def theirs(polygons: list[list[float]], height: int, width: int) -> dict:
    packed = oracle.merge(oracle.frPyObjects(polygons, height, width))
    return {"size": packed["size"], "counts": packed["counts"].decode()}


def draw_polygon(draws: np.random.Generator, height: int, width: int) -> list[float]:
    """Corners on whole, half or any places, inside and far outside; stars that cross themselves, thin and upright ones."""
    corners = int(draws.integers(3, 13))
    reach = float(draws.choice([0.3, 1.0, 1.6, 5.0]))
    middle = draws.uniform(0, 1, 2) * [width, height]
    points = middle + draws.uniform(-0.5, 0.5, (corners, 2)) * [width, height] * np.array(reach)
    if draws.random() < 0.2:
        points[:, draws.integers(2)] = points[0, 0]  # a line
    if draws.random() < 0.3:
        points[1] = points[0]  # a corner given twice
    kind = draws.integers(4)
    points = np.round(points) if kind == 0 else np.round(points * 2) / 2 if kind == 1 else points
    return (np.round(points, 2) if kind == 2 else points).reshape(-1).tolist()


def test_random_polygons_have_the_run_lengths_of_pycocotools() -> None:
    draws = np.random.default_rng(0)
    for number in range(4000):
        height, width = (int(side) for side in draws.integers(1, 60, 2))
        polygons = [draw_polygon(draws, height, width) for _ in range(draws.integers(1, 4))]
        ours = rle(mask_of(json.dumps(polygons).encode(), width, height))
        assert ours == theirs(polygons, height, width), (number, height, width, polygons)


def test_a_rectangle_covers_its_own_pixels_alone() -> None:
    mask = filled_polygon([4, 3, 24, 3, 24, 17, 4, 17], 20, 30)
    assert mask[3:17, 4:24].all()
    assert mask.sum() == 14 * 20


def test_a_circle_of_many_corners_on_a_large_image() -> None:
    turn = np.linspace(0, 2 * np.pi, 5000, endpoint=False)
    circle = np.stack([400 + 700 * np.cos(turn), 300 + 250 * np.sin(turn)], 1).reshape(-1).tolist()
    assert rle(filled_polygon(circle, 600, 1000)) == theirs([circle], 600, 1000)


def test_corners_that_are_far_away_take_no_memory() -> None:
    mask = filled_polygon([-1e6, -1e6, 1e6, -1e6, 1e6, 1e6, -1e6, 1e6] * 50, 8, 8)
    assert not mask.any()  # fifty times around: an even number


def test_a_polygon_of_an_odd_number_of_coordinates_is_refused() -> None:
    with pytest.raises(UserError, match="polygon 1 of its segmentation has 7 numbers; expected pairs x, y"):
        mask_of(b"[[1, 1, 5, 1, 5, 5], [1, 1, 5, 1, 5, 5, 3]]", 8, 8)
