"""Variants of a dataset that lie beside it on disk (`in9:DIR/original` and its sisters), paired by the object they show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import numpy as np

from snellen.data.dataset import Dataset, Samples
from snellen.errors import UserError

_MIXED = re.compile(r"fg_(?P<object>.+)_bg_.+")


def foregrounds(samples: Samples) -> np.ndarray:
    """The object that each sample shows, as text [samples]: the same in every variant of an image.

    It is the column `foreground` where the listing has one, else read from the published names: `fg_<id>_bg_<id>.JPEG` for
    mixed images, `<id>.JPEG` for all others.
    """
    if "foreground" in samples.columns:
        named = [str(name) for name in samples.columns["foreground"]]
    else:
        stems = [PurePosixPath(sample).stem for sample in samples.ids]
        named = [found["object"] if (found := _MIXED.fullmatch(stem)) else stem for stem in stems]
    return np.array([f"{label}/{name}" for label, name in zip(samples.labels, named)], object)


def stored_variants(data: Dataset, kinds: Iterable[str]) -> dict[str, Dataset]:
    """The variants of some `kinds` that lie beside `in9:DIR/original`, each with the images of which `data` has the object."""
    from snellen.data import load_data

    scheme, _, rest = data.text.partition(":")
    place, question, query = rest.partition("?")
    path = Path(place)
    if scheme != "in9" or path.name != "original":
        return {}
    held: dict[str, Dataset] = {}
    objects = set(foregrounds(data.samples))
    for kind in kinds:
        if (path.parent / kind).is_dir():
            whole = load_data(f"in9:{path.parent / kind}{question}{query}")
            if whole.classes != data.classes:
                raise UserError(f"{whole.text} has other classes than {data.text}; build both from the same images")
            kept = np.array([one in objects for one in foregrounds(whole.samples)], bool)
            held[kind] = whole if kept.all() else whole.at(np.flatnonzero(kept))
    return held
