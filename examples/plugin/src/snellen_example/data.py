"""`shades:200`: so many flat grey images of 32×32 pixels, every other one dark."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from snellen.data import DataKind, Dataset, from_arrays
from snellen.data.dataset import filter_rows
from snellen.errors import UserError
from snellen.hashing import key_of

CLASSES = ("dark", "bright")
SIDE = 32  # pixels


def load_shades(path: str, options: Mapping[str, str]) -> Dataset:
    """The dataset of a text `shades:COUNT?seed=N`; dark images are below half of white, bright ones above. Any other option
    keeps the rows whose column has this value: `?label=dark`."""
    conditions = dict(options)
    text = conditions.pop("seed", "0")
    if not path.isdecimal() or not text.isdecimal() or int(path) < 2:
        raise UserError(f"expected at least 2 images, such as shades:200?seed=1, got 'shades:{path}?seed={text}'")
    count, seed = int(path), int(text)
    labels = np.arange(count) % 2
    grey = np.random.default_rng(seed).integers(8, 120, count) + 128 * labels
    images = np.broadcast_to(grey[:, None, None, None], (count, SIDE, SIDE, 3)).astype(np.uint8)
    content = {"images": images, "labels": labels, "classes": np.array(CLASSES)}
    return filter_rows(from_arrays(content, f"shades:{path}", key_of(["shades", count, seed])), conditions)


SHADES = DataKind(load_shades, "shades:200", "so many flat grey images, dark and bright; ?seed=")
