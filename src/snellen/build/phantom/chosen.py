"""Which images an export holds, in what portions, and under what names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from snellen.data.keys import sample_keys
from snellen.data.phantom.world import World
from snellen.errors import UserError, option

PORTION = 64  # images whose truth is in memory at once


def fewest(ids: Sequence[str], limit: int | None) -> np.ndarray:
    """The positions of at most `limit` ids, chosen by a hash of each as `limited` does, int64 ascending."""
    if limit is None or limit >= len(ids):
        return np.arange(len(ids))
    return np.sort(np.argsort(sample_keys(ids), kind="stable")[:limit])


def some_images(world: World, limit: int | None) -> np.ndarray:
    """The numbers of at most `limit` images of a world."""
    return fewest(sample_ids(world), limit)


def some_clips(world: World, limit: int | None) -> np.ndarray:
    """The numbers of the images of whole clips, at most `limit` images."""
    if world.frames == 1:
        raise UserError(f"expected a world of clips, got {world.text}; add frames=10 or so to {option('world')}")
    if limit is not None and limit < world.frames:
        raise UserError(f"expected {option('limit')} of at least one clip of {world.frames} images, got {limit}")
    first = sample_ids(world)[:: world.frames]
    clips = fewest(first, None if limit is None else limit // world.frames)
    images = (clips[:, None] * world.frames + np.arange(world.frames)).reshape(-1)
    return images[images < world.n]  # the last clip may be cut short


def sample_ids(world: World) -> tuple[str, ...]:
    """The ids of all images, as the dataset has them."""
    return world.samples().ids


def stem(sample: str) -> str:
    """The file name of a sample, without its ending: `test-s0-000017`."""
    return sample.replace("/", "-")


def portions(images: np.ndarray, together: int = 1) -> Iterator[np.ndarray]:
    """Image numbers in portions of about PORTION, never cutting a group of `together` images."""
    step = max(PORTION // together, 1) * together
    for start in range(0, len(images), step):
        yield images[start : start + step]
