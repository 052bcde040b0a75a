"""Variants of a dataset that lie beside it on disk: `in9:DIR/original` and its sisters, paired by their ids."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset
from snellen.errors import UserError


def stored_variants(data: Dataset, kinds: Iterable[str]) -> dict[str, Dataset]:
    """The variants of some `kinds` beside `in9:DIR/original`, each with the images that `data` has; none for other data."""
    from snellen.data import load_data

    scheme, _, rest = data.text.partition(":")
    place, question, query = rest.partition("?")
    path = Path(place).expanduser()
    if scheme != "in9" or path.name != "original":
        return {}
    held: dict[str, Dataset] = {}
    samples = set(data.samples.ids)
    for kind in dict.fromkeys(kinds):
        if not (path.parent / kind).is_dir():
            continue
        whole = load_data(f"in9:{path.parent / kind}{question}{query}")
        if whole.classes != data.classes:
            raise UserError(f"{whole.text} has other classes than {data.text}; build both from the same images")
        kept = np.array([sample in samples for sample in whole.samples.ids], bool)
        if not kept.any():
            raise UserError(f"{whole.text} shows none of the objects of {data.text}; build both from the same images")
        held[kind] = whole if kept.all() else whole.at(np.flatnonzero(kept))
    return held
