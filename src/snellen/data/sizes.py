"""The sizes of photos, where a dataset does not state one for all."""

from __future__ import annotations

import numpy as np

from snellen.data.dataset import Dataset, Photo

MOST = 16  # photos looked at


def some_sizes(data: Dataset, most: int = MOST) -> list[tuple[int, int]]:
    """The different (height, width) of up to `most` photos, spread over the listing; without those that cannot be read."""
    positions = np.unique(np.linspace(0, max(len(data) - 1, 0), min(most, len(data))).astype(int)).tolist()
    photos = [photo for photo in data.read(positions) if isinstance(photo, Photo)]
    return sorted({photo.size for photo in photos})
