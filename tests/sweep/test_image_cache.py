"""CachedImages images: the same photos, decoded once, and no more of them than there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.data.arrays import from_arrays
from snellen.data.dataset import Dataset, Photo, Photos, Unreadable
from snellen.sweep import image_cache
from snellen.sweep.image_cache import CachedImages

SIDE, COUNT = 6, 12
EACH = SIDE * SIDE * 4  # bytes: three channels and a mask


def counted(together: bool = True) -> tuple[Dataset, list[int]]:
    """Twelve images with masks and boxes, and the positions that were decoded."""
    random = np.random.default_rng(3)
    arrays = {
        "images": random.integers(0, 256, (COUNT, SIDE, SIDE, 3), dtype=np.uint8),
        "labels": np.arange(COUNT) % 2,
        "masks": random.integers(0, 2, (COUNT, SIDE, SIDE), dtype=np.uint8),
        "boxes": np.sort(random.integers(0, SIDE, (COUNT, 2, 2, 2)), axis=2).reshape(COUNT, 2, 4),  # x0, y0, x1, y1
    }
    data = from_arrays(arrays, "memory:kept", "kept")
    decoded: list[int] = []

    def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
        decoded.extend(positions)
        return data.read(positions)

    def read_together(positions: Sequence[int]) -> Photos:
        assert data.read_together is not None
        decoded.extend(positions)
        return data.read_together(positions)

    return replace(data, read=read, read_together=read_together if together else None), decoded


def same(one: Photo | Unreadable, other: Photo | Unreadable) -> bool:
    assert isinstance(one, Photo)
    assert isinstance(other, Photo)
    assert one.boxes is not None
    assert other.boxes is not None
    return (
        np.array_equal(one.image, other.image)
        and one.checksum == other.checksum
        and np.array_equal(one.boxes, other.boxes)
        and one.maps.keys() == other.maps.keys()
        and all(np.array_equal(one.maps[name], other.maps[name]) for name in one.maps)
    )


@given(
    asked=st.lists(st.lists(st.integers(0, COUNT - 1), min_size=1, max_size=6, unique=True), max_size=8),
    together=st.booleans(),
    room=st.integers(0, 2 * COUNT * EACH),
)
def test_what_is_read_is_the_same_whatever_was_read_before(asked, together, room):
    data, _ = counted()
    shelf = CachedImages(room)
    held = shelf.dataset(data)
    assert held.read_together is not None
    for positions in asked:
        found = held.read_together(positions).apart() if together else held.read(positions)
        assert all(same(one, other) for one, other in zip(found, data.read(positions), strict=True))
        assert 0 <= shelf.room <= room


@pytest.mark.parametrize("together", [True, False])
def test_an_image_is_decoded_once_by_any_way_of_reading(together):
    data, decoded = counted(together)
    held = CachedImages(COUNT * EACH).dataset(data)
    read = held.read if held.read_together is None else held.read_together
    for positions in (range(8), range(8, COUNT), [3, 9, 1], range(COUNT)):
        read(positions)
    held.at(np.array([5, 2])).read([0, 1])
    assert sorted(decoded) == list(range(COUNT))
    assert held.fingerprint == data.fingerprint


def test_without_room_what_was_read_first_stays():
    data, decoded = counted(together=False)
    shelf = CachedImages(5 * EACH)
    first, second = shelf.dataset(data), shelf.dataset(data)
    for _ in range(3):
        first.read([0, 1, 2])
        second.read([0, 1, 2])  # of another test: two more would fit, but parts of what was read together are not kept
    assert len(decoded) == 3 + 3 * 3
    assert shelf.room == 2 * EACH


def test_an_unreadable_image_is_tried_again():
    data, _ = counted(together=False)
    answers = iter([[Unreadable("the disk was away")], data.read([0])])
    held = CachedImages(COUNT * EACH).dataset(replace(data, read=lambda positions: next(answers)))
    assert held.read([0]) == [Unreadable("the disk was away")]
    assert same(held.read([0])[0], data.read([0])[0])
    assert same(held.read([0])[0], data.read([0])[0])  # there is no third answer: this one was kept


def test_there_is_room_for_an_eighth_of_what_the_container_may_have(tmp_path: Path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(image_cache, "LIMIT", limit)
    whole = image_cache.room()
    assert whole > 0
    limit.write_text("max\n")
    assert image_cache.room() == whole
    limit.write_text("8000000\n")
    assert image_cache.room() == 1_000_000
