"""Datasets and loaders of torch, as they are: `snellen.audit(network, CIFAR10("data", train=False))`.

Images as the dataset gives them, before any normalisation: each model's own is applied. All images are read once at the start,
since torch keeps no list of their labels, nor anything that tells two datasets apart.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from snellen.data.array_schema import class_names, sample_ids
from snellen.data.dataset import Dataset, Photo, Samples, Unreadable
from snellen.data.decode import upright_rgb
from snellen.data.maite import is_maite_data, maite_parts, names_of
from snellen.errors import UserError
from snellen.files.net import reason_of
from snellen.hashing import key_of, pixel_checksums

TWICE = 4  # images read twice: those of random augmentations differ


def from_torch_data(source: Any, text: str | None = None) -> Dataset:
    """The dataset of one of torch's that has a length, or of a loader's, whose order and batches do not matter.

    Items are (image, label) or mappings with `image` and `label`. Images are Pillow's, uint8, or floats in 0…1. Ids are the
    positions; class names are its `classes`, where it has them. One that follows MAITE's protocol has ids and names of its own.
    """
    dataset = getattr(source, "dataset", source) if hasattr(source, "batch_sampler") else source
    maite = is_maite_data(dataset)
    text = text or (f"maite:{dataset.metadata['id']}" if maite else f"torch:{type(dataset).__name__}")
    if not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        raise UserError(
            f"{text} has no length or no positions; give a dataset that has both, or save it as arrays:file.npz"
        )
    if not len(dataset):
        raise UserError(f"{text} holds no images")
    parts = maite_parts if maite else _parts
    lock = threading.Lock()  # datasets of torch may be read by several processes, not by several threads

    def item(position: int) -> tuple[Photo | Unreadable, Any, str]:
        with lock:
            try:
                image, label, name = parts(dataset[position], text)
                photo = _photo(image, f"{text}, image {position}", channels_first=maite or is_tensor(image))
                return photo, label, name or f"{position:06d}"
            except (UserError, MemoryError):
                raise
            except Exception as error:
                return Unreadable(f"cannot be read: {reason_of(error)}"), -1, f"{position:06d}"

    _check_repeated(item, len(dataset), text)
    labels = np.full(len(dataset), -1, np.int64)
    sums: list[str] = []
    ids: list[str] = []
    sizes: set[tuple[int, int] | None] = set()
    for position in range(len(dataset)):
        photo, label, name = item(position)
        labels[position] = _label(label, f"{text}, image {position}")
        ids.append(name)
        sums.append(photo.checksum if isinstance(photo, Photo) else "")
        sizes |= {photo.size} if isinstance(photo, Photo) else {None}
    names = names_of(dataset.metadata, text) if maite else _class_names(dataset)
    classes = class_names(None if names is None else np.array(names), labels, text)
    return Dataset(
        text,
        classes,
        Samples(sample_ids(np.array(ids) if maite else None, len(dataset), text), labels),
        key_of(["torch", labels.tolist(), list(classes), sums, *([ids] if maite else [])]),
        lambda positions: [item(position)[0] for position in positions],
        size=sizes.pop() if len(sizes) == 1 else None,
    )


def is_tensor(image: Any) -> bool:
    """Whether an image is one of torch's, whose channels come first."""
    return type(image).__module__.startswith("torch")


def _class_names(dataset: Any) -> Sequence[str] | None:
    """The `classes` of a dataset of torch's, where they are names."""
    names = getattr(dataset, "classes", None)
    named = isinstance(names, Sequence) and not isinstance(names, str) and all(isinstance(n, str) for n in names)
    return names if named else None


def _parts(item: Any, text: str) -> tuple[Any, Any, str]:
    """Image and label of an item, which has no id."""
    if isinstance(item, Mapping) and {"image", "label"} <= item.keys():
        return item["image"], item["label"], ""
    if isinstance(item, tuple | list) and len(item) >= 2:
        return item[0], item[1], ""
    raise UserError(
        f"{text}: expected items as (image, label) or with keys 'image' and 'label', got {type(item).__name__}"
    )


def _photo(image: Any, where: str, *, channels_first: bool) -> Photo:
    """The photo of an image of Pillow's, or of an array or tensor [H, W], [H, W, 3] or, with `channels_first`, [3, H, W]."""
    if isinstance(image, Image.Image):
        pixels = np.asarray(upright_rgb(image.copy()))
    else:
        array = np.asarray(image.detach().cpu() if is_tensor(image) else image)
        pixels = _rgb(array, 0 if channels_first else 2, where)
    return Photo(pixels, pixel_checksums(pixels[None])[0])


def _rgb(array: np.ndarray, axis: int, where: str) -> np.ndarray:
    """uint8 [H, W, 3] of uint8 values or floats in 0…1, grey or with three channels along an axis."""
    shaped = array if array.ndim == 3 else np.expand_dims(array, axis) if array.ndim == 2 else None
    if shaped is None or shaped.shape[axis] not in (1, 3) or 0 in shaped.shape:
        wanted = "[3, H, W] or [H, W]" if axis == 0 else "[H, W, 3] or [H, W]"
        raise UserError(f"{where}: expected {wanted}, got {list(array.shape)}")
    if shaped.dtype.kind == "f":
        low, high = (float(bound(shaped)) for bound in (np.min, np.max))
        if not (low >= 0 and high <= 1):  # nan too
            raise UserError(
                f"{where} has values from {low:.3g} to {high:.3g}; expected uint8, or floats in 0…1: give the dataset without "
                "Normalize, since each model's own normalisation is applied"
            )
        shaped = np.rint(shaped * 255).astype(np.uint8)
    elif shaped.dtype != np.uint8:
        raise UserError(f"{where}: expected uint8 or floats in 0…1, got {shaped.dtype}")
    return np.ascontiguousarray(
        np.broadcast_to(np.moveaxis(shaped, axis, 2), (*np.moveaxis(shaped, axis, 2).shape[:2], 3))
    )


def _label(label: Any, where: str) -> int:
    """A whole number; −1 is unknown."""
    number = label.item() if hasattr(label, "item") and np.ndim(label) == 0 else label
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise UserError(
            f"{where}: expected a label as the number of its class, got {type(label).__name__} {str(label)[:40]!r}"
        )
    return int(number)


def _check_repeated(item: Any, count: int, text: str) -> None:
    """Refuse a dataset that gives another image each time: no answer could be told from another."""
    for position in range(min(TWICE, count)):
        first, second = (item(position)[0] for _ in range(2))
        if isinstance(first, Photo) and isinstance(second, Photo) and first.checksum != second.checksum:
            raise UserError(f"{text} gives another image each time it is read; give it without random augmentation")
