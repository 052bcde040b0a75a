"""`arrays:file.npz`: `images` uint8 [N, H, W, 3] or [N, H, W], `labels` [N], optional `ids`, `classes`, `masks`, `boxes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from snellen.data.array_schema import (
    OWN,
    check_images,
    check_masks,
    class_names,
    number_boxes,
    sample_ids,
    whole_labels,
)
from snellen.data.columns import column
from snellen.data.dataset import Dataset, Photos, Samples, filter_rows
from snellen.data.pixel_files import mask_values, object_of_numbers
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.npz import Npz, open_npz
from snellen.files.plain import check_mapped
from snellen.hashing import file_sha256, key_of, pixel_checksums


def load_arrays(path: str, options: Mapping[str, str]) -> Dataset:
    """The images of an npz file; further arrays of the same length become columns."""
    file = expand_home(path)
    with open_npz(file) as archive:
        for name in ("images", "labels"):
            if name not in archive.headers:
                raise UserError(f"{path} has no array '{name}'; it has: {', '.join(archive.headers)}")
        content = {name: archive.read(name) for name in _wanted(archive)}
    conditions, identity = dict(options), ["arrays", file_sha256(file)]
    stated = conditions.pop("mask") if "masks" in content and "mask" in conditions and "mask" not in content else None
    if stated is not None:  # the values of the object
        values = mask_values(stated)
        content["masks"] = np.isin(content["masks"], values)
        identity.append(f"mask={sorted(values)}")
    return filter_rows(from_arrays(content, f"arrays:{path}", key_of(identity)), conditions)


def from_arrays(content: Mapping[str, np.ndarray], text: str, fingerprint: str) -> Dataset:
    """A dataset of arrays in memory (or mapped from disk): keys as in the file.

    >>> import numpy as np
    >>> from snellen.data import from_arrays
    >>> content = {"images": np.zeros((2, 8, 8, 3), np.uint8)}
    >>> content |= {"labels": np.array([0, 1]), "classes": np.array(["cat", "dog"])}
    >>> from_arrays(content, "arrays:pets", fingerprint="pets-1").classes
    ('cat', 'dog')
    """
    images = content["images"]
    check_images(images, text)
    labels = whole_labels(np.asarray(content["labels"]), len(images), text)
    classes = class_names(content.get("classes"), labels, text)
    ids = sample_ids(content.get("ids"), len(images), text)
    boxes = None if "boxes" not in content else number_boxes(np.asarray(content["boxes"]), len(images), text)
    if "masks" in content:
        check_masks(content["masks"], images, text)
    extra = {
        name: column(np.asarray(values), f"{text}: column '{name}'")
        for name, values in content.items()
        if name not in OWN and np.shape(values) == (len(images),)
    }

    def together(positions: Sequence[int]) -> Photos:
        for name in ("images", "masks"):
            if name in content:
                check_mapped(content[name], text)
        rows = slice(positions[0], positions[-1] + 1) if _consecutive(positions) else list(positions)
        return _photos(content, boxes, rows)

    facts = frozenset(name for name in ("masks", "boxes") if name in content)
    size = (int(images.shape[1]), int(images.shape[2]))
    return Dataset(
        text,
        classes,
        Samples(ids, labels, extra),
        fingerprint,
        lambda positions: together(positions).apart(),
        size=size,
        chunk=256,
        facts=facts,
        read_together=together,
    )


def _wanted(archive: Npz) -> list[str]:
    """The arrays that are read: those with a meaning, and columns; whatever else a file holds is left alone."""
    rows = archive.headers["images"].shape[:1]
    return [name for name, header in archive.headers.items() if name in OWN or header.shape == rows]


def _photos(content: Mapping[str, np.ndarray], boxes: np.ndarray | None, rows: slice | list[int]) -> Photos:
    images = np.asarray(content["images"][rows])
    if images.ndim == 3:
        images = images[..., None]
    rgb = np.ascontiguousarray(np.broadcast_to(images, (*images.shape[:3], 3)))
    outlines = None if boxes is None else [some[~np.isnan(some[:, 0])] for some in boxes[rows]]
    maps = {"mask": _object_pixels(np.asarray(content["masks"][rows]))} if "masks" in content else {}
    return Photos(rgb, pixel_checksums(rgb), outlines, maps)


def _object_pixels(masks: np.ndarray) -> np.ndarray:
    """bool [n, H, W]: the object of each mask, by its own values."""
    return masks if masks.dtype == bool or not len(masks) else np.stack([object_of_numbers(mask) for mask in masks])


def _consecutive(positions: Sequence[int]) -> bool:
    return len(positions) > 0 and list(positions) == list(range(positions[0], positions[-1] + 1))
