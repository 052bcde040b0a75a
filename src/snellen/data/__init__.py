"""What is shown: datasets, their listings and how their images get onto a model's canvas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from snellen.data.arrays import arrays, from_arrays
from snellen.data.boxes import boxes
from snellen.data.canvas import Canvas, render
from snellen.data.coco import coco
from snellen.data.cue import cue
from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, limited
from snellen.data.folder import folder
from snellen.data.in9.reading import in9 as variants
from snellen.data.manifest import manifest
from snellen.data.phantom import phantom as generated  # under its own name it would hide the package
from snellen.data.subset import OPTIONS, chosen, only_ids, random_labels, without_classes
from snellen.data.voc import voc
from snellen.errors import UserError, unknown

SCHEMES: dict[str, Callable[[str, Mapping[str, str]], Dataset]] = {
    "folder": folder,
    "cue": cue,
    "manifest": manifest,
    "arrays": arrays,
    "boxes": boxes,
    "voc": voc,
    "coco": coco,
    "in9": variants,
    "phantom": generated,
}


def load_data(text: str) -> Dataset:
    """The dataset a text names: `folder:path`, `manifest:file.csv`, `arrays:file.npz`, `phantom:test?texture_bias=1`.

    `?column=value` keeps only the rows with that value; several are joined with `&`. Options that any data take are
    `ids`, `without`, `random_labels` and `labels_seed`: see subset.py.
    """
    scheme, colon, rest = text.partition(":")
    if not colon:
        raise UserError(
            f"expected data as 'scheme:path', got '{text}'; schemes: {', '.join(SCHEMES)}; for example 'folder:{text}'"
        )
    if scheme not in SCHEMES:
        raise unknown("data scheme", scheme, SCHEMES)
    path, _, query = rest.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=False))
    if query and not options:
        raise UserError(f"cannot read '?{query}' in '{text}'; write it as ?column=value&other=value")
    data = SCHEMES[scheme](path, {name: value for name, value in options.items() if name not in OPTIONS})
    data = chosen(data, {name: value for name, value in options.items() if name in OPTIONS})
    return data if data.text == text else _renamed(data, text)


def _renamed(data: Dataset, text: str) -> Dataset:
    from dataclasses import replace

    return replace(data, text=text)


__all__ = [
    "OPTIONS",
    "SCHEMES",
    "Canvas",
    "Dataset",
    "Photo",
    "Samples",
    "Unreadable",
    "from_arrays",
    "limited",
    "load_data",
    "only_ids",
    "random_labels",
    "render",
    "without_classes",
]
