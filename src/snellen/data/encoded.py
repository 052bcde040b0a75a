"""Datasets of encoded images that lie in shards, tables or records: their labels, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable, filter_rows, number_labels
from snellen.data.decode import decode_content
from snellen.data.names import different
from snellen.data.pixel_files import ASK_OBJECT, mask_of_content
from snellen.errors import UserError
from snellen.files.plain import NotRead
from snellen.hashing import key_of

Contents = Callable[[Sequence[int]], Iterable[bytes | NotRead | None]]


@dataclass(frozen=True)
class EncodedImages:
    """Images whose encoded `contents` are read by position; `masks` are images too, whose object has the `values`.

    `identity` is what changes when images or masks do.
    """

    samples: Samples
    classes: Sequence[str]
    contents: Contents
    identity: Sequence[object]
    masks: Contents | None = None
    values: Collection[int] = ()

    def read(self, positions: Sequence[int]) -> list[Photo | Unreadable]:
        """The photos, with their masks where there are any."""
        photos = [decode_content(_there(content)) for content in self.contents(positions)]
        if self.masks is None:
            return photos
        return [with_mask(photo, mask, self.values) for photo, mask in zip(photos, self.masks(positions))]


def encoded_dataset(text: str, images: EncodedImages, conditions: Mapping[str, str]) -> Dataset:
    """The dataset of encoded images, filtered by conditions."""
    samples, classes = images.samples, different(list(images.classes), text, "class")
    columns = {name: list(map(str, values)) for name, values in samples.columns.items()}
    facts = [samples.ids, samples.labels.tolist(), classes, columns, sorted(images.values)]
    known = frozenset() if images.masks is None else frozenset({"masks"})
    fingerprint = key_of([*images.identity, *facts])
    return filter_rows(Dataset(text, classes, samples, fingerprint, images.read, facts=known), conditions)


def with_mask(
    photo: Photo | Unreadable, content: bytes | NotRead | None, values: Collection[int]
) -> Photo | Unreadable:
    """The photo with the mask in an encoded image; an empty one where there is none."""
    if isinstance(photo, Unreadable):
        return photo
    if content is None:
        return replace(photo, maps={"mask": np.zeros(photo.size, bool)})
    if isinstance(content, NotRead):
        return Unreadable(f"its mask cannot be read: {content.reason}")
    try:
        mask = mask_of_content(content, values, ASK_OBJECT)
    except UserError as error:
        return Unreadable(f"its mask: {error}")
    if mask.shape != photo.size:
        (height, width), own = photo.size, mask.shape
        return Unreadable(f"its mask is {own[0]}x{own[1]}, the image {height}x{width}")
    return replace(photo, maps={"mask": mask})


def labels_of(
    values: Sequence[Any], names: Sequence[str] | None, where: Callable[[int], str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Labels int64 and class names of numbers, or of texts: their own, or `names` in the order of the numbers.

    Nothing, an empty text and −1 are unknown. `where` names a row in errors.
    """
    words = [_word(value, row, where) for row, value in enumerate(values)]
    if names is None:
        labels, classes = number_labels(["" if word == "-1" else word for word in words])
        if not classes:
            raise UserError(f"{where(0)}: neither it nor any other has a label")
        return labels, classes
    number = {name: label for label, name in enumerate(names)}
    labels = np.full(len(words), -1, np.int64)
    for row, word in enumerate(words):
        if word in number:
            labels[row] = number[word]
        elif word.isdecimal() and int(word) < len(names):
            labels[row] = int(word)
        elif word not in ("", "-1"):
            few = ", ".join(list(names)[:5]) + (", …" if len(names) > 5 else "")
            raise UserError(
                f"{where(row)} has the label '{word[:60]}', which is none of the {len(names)} classes: {few}"
            )
    return labels, tuple(names)


def _word(value: Any, row: int, where: Callable[[int], str]) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool | str | int | np.integer):
        return str(value).strip()
    if isinstance(value, float | np.floating) and value % 1 == 0:
        return str(int(value))
    sort = type(value).__name__
    raise UserError(f"{where(row)} has a label of the type {sort}; expected the number or the name of one class")


def _there(content: bytes | NotRead | None) -> bytes | NotRead:
    return NotRead("no image", "it is empty") if content is None else content
