"""Test images that stay decoded from one point of a sweep to the next, as far as memory allows."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset, Photo, Photos, Unreadable

SHARE = 8  # one part in so many of the memory may be filled with images: training needs the rest
LIMIT = Path("/sys/fs/cgroup/memory.max")  # where a container has less memory than its machine


class CachedImages:
    """The images of any number of datasets, `room` bytes at most.

    What was read first stays and the rest is read again each time: every point goes through all tests in the same order, so
    dropping the oldest would drop just what is needed next.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self._lock = threading.Lock()

    def dataset(self, data: Dataset) -> Dataset:
        """The same data, whose images are decoded once while there is room; unreadable ones are tried again."""
        photos: dict[int, Photo] = {}
        together = data.read_together

        def read(positions: Sequence[int]) -> list[Photo | Unreadable]:
            missing = [position for position in positions if position not in photos]
            fresh = dict(zip(missing, data.read(missing))) if missing else {}
            self._keep(fresh, photos)
            return [fresh[position] if position in fresh else photos[position] for position in positions]

        def read_together(positions: Sequence[int]) -> Photos:
            assert together is not None
            if positions and all(position in photos for position in positions):
                return _joined([photos[position] for position in positions])
            batch = together(positions)
            self._keep(dict(zip(positions, batch.apart())), photos)
            return batch

        return replace(data, read=read, read_together=None if together is None else read_together)

    def _keep(self, fresh: Mapping[int, Photo | Unreadable], photos: dict[int, Photo]) -> None:
        """Keep what was just read, all of it or nothing: photos that were read together are parts of one array."""
        new = {
            at: replace(photo, pixels=photo.image)
            for at, photo in fresh.items()
            if isinstance(photo, Photo) and at not in photos
        }
        size = sum(photo.image.nbytes + sum(plane.nbytes for plane in photo.maps.values()) for photo in new.values())
        with self._lock:
            if size <= self.room:
                self.room -= size
                photos.update(new)


def room() -> int:
    """How many bytes of images may be cached: an eighth of the memory that this process may have."""
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return 0
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        memory = min(memory, int(LIMIT.read_text()))
    return memory // SHARE


def _joined(photos: Sequence[Photo]) -> Photos:
    boxes = [photo.boxes for photo in photos if photo.boxes is not None]
    return Photos(
        np.stack([photo.image for photo in photos]),
        [photo.checksum for photo in photos],
        boxes or None,
        {name: np.stack([photo.maps[name] for photo in photos]) for name in photos[0].maps},
    )
