"""Variants of a dataset that lie beside it on disk: `in9:DIR/original` and its sisters, paired by their ids."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from snellen.data.dataset import Dataset
from snellen.data.in9.layout import VARIANTS
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.places import is_folder


def stored_variants(data: Dataset, kinds: Iterable[str]) -> dict[str, Dataset]:
    """The variants of some `kinds` beside `in9:DIR/original`, each with the images that `data` has; none for other data."""
    from snellen.data import load_data

    scheme, _, rest = data.text.partition(":")
    place, question, query = rest.partition("?")
    path = expand_home(place)
    if scheme != "in9" or path.name != "original":
        return {}
    variants: dict[str, Dataset] = {}
    samples = set(data.samples.ids)
    for kind in dict.fromkeys(kinds):
        if not is_folder(path.parent / kind):
            continue
        whole = load_data(f"in9:{path.parent / kind}{question}{query}")
        if whole.classes != data.classes:
            raise UserError(f"{whole.text} has other classes than {data.text}; build both from the same images")
        shared = np.array([sample in samples for sample in whole.samples.ids], bool)
        if not shared.any():
            raise UserError(f"{whole.text} shows none of the objects of {data.text}; build both from the same images")
        variants[kind] = whole if shared.all() else whole.at(np.flatnonzero(shared))
    return variants


def is_variant(text: str) -> bool:
    """Whether a data text names modified images, `in9:DIR/VARIANT` other than the originals."""
    kind = _place(text).name
    return text.startswith("in9:") and kind in VARIANTS and kind != "original"


def refuse_variant(text: str, audit: str) -> None:
    """Refuse `in9:DIR/VARIANT` but for the originals: what is behind the objects there is not of their images' classes."""
    if is_variant(text):
        raise UserError(
            f"the audit {audit} exchanges backgrounds itself, and in {text} they are exchanged already; "
            f"use --data in9:{_place(text).parent / 'original'}"
        )


def _place(text: str) -> Path:
    return expand_home(text.partition("?")[0].removeprefix("in9:"))
