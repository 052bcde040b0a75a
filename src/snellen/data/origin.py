"""Where another process of this machine can load the photos of a dataset once more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from snellen.files import expand_home
from snellen.files.places import is_folder

_ENCODED = frozenset(  # kinds of data whose files each process may open for itself; arrays need no decoding
    ("folder", "tar", "zip", "wds", "parquet", "hf", "manifest", "boxes", "voc", "coco", "panoptic", "openimages")
) | {"pairs", "in9"}

Read = Callable[[Sequence[int]], list[Any]]


@dataclass(frozen=True)
class DataOrigin:
    """The data of `text`, `count` samples whose fingerprint is `fingerprint`; `rows` of them are meant, or all.

    `read` is the function that reads these photos here: a dataset that reads by another one shows other photos.
    """

    text: str
    fingerprint: str
    count: int
    read: Read
    rows: np.ndarray | None = None

    def at(self, rows: np.ndarray, read: Read) -> DataOrigin:
        """The origin of some of the rows, which `read` reads."""
        return replace(self, rows=rows if self.rows is None else self.rows[rows], read=read)

    def positions(self, positions: Sequence[int]) -> list[int]:
        """Where these samples stand in the data of `text`."""
        return list(positions) if self.rows is None else self.rows[np.asarray(positions)].tolist()


def is_loaded_alike(scheme: str, path: str, text: str) -> bool:
    """Whether every process of this machine finds the same files by a text, without asking anyone else for them."""
    if scheme not in _ENCODED or "://" in text:
        return False
    return scheme != "hf" or is_folder(expand_home(path))
