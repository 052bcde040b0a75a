"""Stages of deletion: which pixels of an image are hidden on the way, for pages that show it."""

from __future__ import annotations

import numpy as np

from snellen.data.keys import sample_keys
from snellen.distort.draws import Draws
from snellen.search.tiles import TileGrid


def hidden_pixels(heat: np.ndarray, sample: str, tiles: TileGrid, share: float, seed: int = 0) -> np.ndarray:
    """bool [H, W]: what is hidden of a sample once a `share` of its tiles is, the least relevant by its map (bytes) first.

    The tiles are those that the trial hid: those of equal relevance are drawn as it draws them.
    """
    sums = np.bincount(tiles.numbers.ravel(), heat.ravel().astype(np.int64))
    means = sums / np.bincount(tiles.numbers.ravel())
    draws = Draws(sample_keys([sample]), seed, 0, None)  # type: ignore[arg-type]  # no draw of tensors, so no device
    (shuffle,) = draws.permutation("ties", len(tiles))
    order = shuffle[np.argsort(means[shuffle], kind="stable")]
    hidden = np.zeros(len(tiles), bool)
    hidden[order[: round(share * len(tiles))]] = True
    return hidden[tiles.numbers]


def tiles_of(facts: dict[str, int], height: int, width: int) -> TileGrid:
    """The tiles of a map of this size, by the facts of a finding of faithfulness."""
    return TileGrid.of(height, width, facts["tile"], facts.get("grid", 0))
