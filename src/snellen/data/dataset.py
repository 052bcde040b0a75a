"""What a dataset is: a listing of samples and one function that reads some of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.concept_maps import ConceptMaps
from snellen.data.keys import sample_keys
from snellen.data.origin import DataOrigin
from snellen.errors import UserError, option
from snellen.hashing import checksum, key_of

if TYPE_CHECKING:
    from PIL import Image

IGNORED = -100  # in a map of labels: a pixel that does not count
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,5}")
SIZED = 16  # photos looked at for their sizes


@dataclass(frozen=True)
class Photo:
    """One decoded image with what is known of its pixels.

    `pixels` are uint8 RGB [H, W, 3], or the same as an image of Pillow's, which can be scaled without becoming an array;
    `boxes` are float [n, 4] as x0, y0, x1, y1 in pixels, maximum exclusive; `maps` are per-pixel facts [H, W] by name (`mask`
    is the object's, bool; `labels` are the classes of pixels, integers, IGNORED where one does not count).
    """

    pixels: np.ndarray | Image.Image
    checksum: str
    boxes: np.ndarray | None = None
    maps: Mapping[str, np.ndarray] = field(default_factory=dict)

    @functools.cached_property
    def image(self) -> np.ndarray:
        """The pixels as an array, uint8 [H, W, 3]."""
        return np.asarray(self.pixels)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width in pixels."""
        if isinstance(self.pixels, np.ndarray):
            return self.pixels.shape[0], self.pixels.shape[1]
        return self.pixels.height, self.pixels.width


@dataclass(frozen=True)
class Photos:
    """Photos of one size, read together: images uint8 [n, H, W, 3], maps [n, H, W], one boxes array per photo."""

    images: np.ndarray
    checksums: Sequence[str]
    boxes: Sequence[np.ndarray] | None = None
    maps: Mapping[str, np.ndarray] = field(default_factory=dict)

    def apart(self) -> list[Photo | Unreadable]:
        """The same photos one by one."""
        return [
            Photo(
                image,
                self.checksums[row],
                None if self.boxes is None else self.boxes[row],
                {name: values[row] for name, values in self.maps.items()},
            )
            for row, image in enumerate(self.images)
        ]


@dataclass(frozen=True)
class Unreadable:
    """An image that could not be decoded, or what is known of it is wrong; why, and which sort of trouble that is."""

    reason: str
    sort: str = "unreadable"


@dataclass(frozen=True)
class Samples:
    """The listing: stable ids, labels (−1 = unknown) and any further columns, all of one length."""

    ids: tuple[str, ...]
    labels: np.ndarray
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @functools.cached_property
    def keys(self) -> np.ndarray:
        """A 64-bit key per sample, from which its random draws start."""
        return sample_keys(self.ids)

    @functools.cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each id."""
        return {sample: row for row, sample in enumerate(self.ids)}

    @functools.cached_property
    def hash_order(self) -> np.ndarray:
        """All rows, in the order of a hash of their ids: the first of them are of no class in particular."""
        return np.argsort(self.keys, kind="stable")

    def take(self, rows: np.ndarray) -> Samples:
        """The listing of some rows, in the order given."""
        columns = {name: values[rows] for name, values in self.columns.items()}
        return Samples(tuple(self.ids[i] for i in rows), self.labels[rows], columns)


@dataclass(frozen=True)
class Dataset:
    """Images to show: a listing, class names and `read`, which decodes the samples at given positions.

    `size` is (height, width) where all images share one, and `read_together` then reads many at once without a loop
    over photos; `tree` maps a class or node to its parent; `facts` names what is known beyond the pixels (masks, boxes);
    `chunk` is how many images are best read at once. `concepts` are what their pixels show, where the data know that;
    `notices` say what was left out of them. All readers may be called from several threads. `origin` is where other processes
    find the same photos.
    """

    text: str
    classes: tuple[str, ...]
    samples: Samples
    fingerprint: str
    read: Callable[[Sequence[int]], list[Photo | Unreadable]]
    size: tuple[int, int] | None = None
    tree: Mapping[str, str] | None = None
    chunk: int = 8
    facts: frozenset[str] = frozenset()
    read_together: Callable[[Sequence[int]], Photos] | None = None
    concepts: ConceptMaps | None = None
    notices: tuple[str, ...] = ()
    origin: DataOrigin | None = None

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def elsewhere(self) -> DataOrigin | None:
        """Where other processes find the same photos; None where they cannot, or where this dataset reads others by now."""
        return self.origin if self.origin is not None and self.origin.read is self.read else None

    def at(self, rows: np.ndarray) -> Dataset:
        """The dataset of some rows only, in the order given."""
        rows = np.asarray(rows)
        read, together, origin = self.read, self.read_together, self.elsewhere
        fingerprint = key_of([self.fingerprint, checksum(rows.astype(np.int64).tobytes())])

        def read_some(positions: Sequence[int]) -> list[Photo | Unreadable]:
            return read([int(rows[p]) for p in positions])

        return replace(
            self,
            samples=self.samples.take(rows),
            read=read_some,
            origin=None if origin is None else origin.at(rows, read_some),
            read_together=None if together is None else lambda positions: together([int(rows[p]) for p in positions]),
            fingerprint=fingerprint,
            concepts=None if self.concepts is None else self.concepts.at(rows),
        )


def limited(data: Dataset, limit: int | None) -> Dataset:
    """At most `limit` samples, chosen by a hash of their ids: no class is favoured, and 100 are part of 200.

    >>> from snellen.data import limited, load_data
    >>> data = load_data("phantom:test?size=32&n=12")
    >>> len(limited(data, 5))
    5
    """
    if limit is None or limit >= len(data):
        return data
    if limit < 1:
        raise UserError(f"expected {option('limit')} of at least 1, got {limit}")
    return data.at(np.sort(data.samples.hash_order[:limit]))


def filter_rows(data: Dataset, conditions: Mapping[str, str]) -> Dataset:
    """The rows whose columns equal the given values, as in `?level=0&split=val`; `label` filters by class name."""
    keep = np.ones(len(data), bool)
    for column, wanted in conditions.items():
        if column == "label":
            values = np.array([data.classes[i] if i >= 0 else "" for i in data.samples.labels])
        elif column in data.samples.columns:
            values = np.array([str(v) for v in data.samples.columns[column]])
        else:
            if column == "mask":
                raise UserError(
                    f"{data.text} reads no mask files whose values ?mask= could name; leave it out, or give the masks in a "
                    "manifest (column 'mask') or in arrays ('masks')"
                )
            known = ", ".join(["label", *data.samples.columns])
            raise UserError(f"{data.text} has no column '{column}' to filter by; it has: {known}")
        keep &= values == wanted
    if not keep.any():
        query = "&".join(f"{k}={v}" for k, v in conditions.items())
        raise UserError(f"no sample of {data.text} has {query}")
    return data.at(np.flatnonzero(keep)) if conditions else data


def number_labels(names: Iterable[object]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Label indices and class names of a label column; an empty label is unknown, −1.

    Where every label is a whole number of up to six digits, written plainly, the numbers keep their order. Else they are words,
    sorted: `01` is one, and so is `1.0`.
    """
    words = [str(name).strip() for name in names]
    classes = sorted(set(words) - {""})
    if classes and all(_WHOLE.fullmatch(word) for word in classes):
        classes.sort(key=int)
        if int(classes[0]) >= 0:
            classes = [str(number) for number in range(int(classes[-1]) + 1)]
    index = {"": -1, **{name: label for label, name in enumerate(classes)}}
    return np.array([index[word] for word in words], np.int64), tuple(classes)


def some_sizes(data: Dataset, most: int = SIZED) -> list[tuple[int, int]]:
    """The different (height, width) of up to `most` photos, spread over the listing; without those that cannot be read."""
    positions = np.unique(np.linspace(0, max(len(data) - 1, 0), min(most, len(data))).astype(int)).tolist()
    photos = [photo for photo in data.read(positions) if isinstance(photo, Photo)]
    return sorted({photo.size for photo in photos})
