"""Any data with masks, as the desk shows it: the image, its object alone, and all but the object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from snellen.build.encode import names_of
from snellen.build.in9.curation import Mend
from snellen.build.in9.request import In9Request
from snellen.data import load_data
from snellen.data.dataset import filter_rows
from snellen.errors import UserError, option
from snellen.hashing import key_of
from snellen.web.curate.collection import MOST_SHORTER, Collection

REASONS = ("mask keeps background", "mask misses object", "box does not fit")
VARIANTS = ("only_fg", "no_fg")


@dataclass(frozen=True)
class PlainCollection(Collection):
    """Images with masks of any kind of data."""

    def variant(self, row: int, name: str, mend: Mend | None) -> np.ndarray:
        exhibit = self.exhibit(row).mended(mend)
        return exhibit.image * (exhibit.mask if name == "only_fg" else ~exhibit.mask)[:, :, None]


def plain_collection(text: str, split: str | None) -> PlainCollection:
    """The images of some data, of one split where they have a column of that name."""
    data = load_data(text)
    if "masks" not in data.facts:
        raise UserError(f"{text} has no masks to review; give data with masks, such as a set of `snellen build in9`")
    splits = data.samples.columns.get("split")
    if splits is not None:
        there = [str(value) for value in np.unique(splits.astype(str))]
        wanted = split or next((name for name in ("test", "val") if name in there), None)
        data = data if wanted is None else replace(filter_rows(data, {"split": wanted}), text=data.text)
    elif split is not None:
        raise UserError(f"{text} has no column 'split' to choose '{split}' by; leave {option('split')} out")
    names = tuple(names_of(data.samples.ids))
    fingerprint = key_of([text, list(data.samples.ids), data.samples.labels.tolist()])
    settings = In9Request(data=text, out=Path("-"), segment_size=MOST_SHORTER)
    return PlainCollection(data, names, REASONS, VARIANTS, fingerprint, settings)
