"""What the arrays of a dataset must be: types, shapes and ranges, before anything is computed with them."""

from __future__ import annotations

from collections import Counter

import numpy as np

from snellen.data.columns import texts
from snellen.data.names import different
from snellen.errors import UserError

OWN = frozenset({"images", "labels", "classes", "ids", "masks", "boxes"})
MOST_CLASSES = 1_000_000
FARTHEST = 1e9  # pixels, of a corner from the image


def check_images(images: np.ndarray, text: str) -> None:
    """Refuse what is not uint8 [N, H, W, 3], [N, H, W, 1] or [N, H, W]."""
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] not in (1, 3)):
        raise UserError(f"{text}: expected images uint8 [N, H, W, 3] or [N, H, W], got {_type(images)}")
    if len(images) == 0:
        raise UserError(f"{text} holds no images")
    if 0 in images.shape[1:3]:
        raise UserError(f"{text}: expected images of at least one pixel, got {_type(images)}")


def whole_labels(labels: np.ndarray, count: int, text: str) -> np.ndarray:
    """int64 [count]: the labels, which must be whole numbers."""
    if labels.shape != (count,) or labels.dtype.kind not in "iu":
        raise UserError(f"{text}: expected {count} whole-number labels, got {_type(labels)}")
    if labels.dtype.kind == "u" and labels.max() > np.iinfo(np.int64).max:
        raise UserError(f"{text}: label {labels.max()} of image {labels.argmax()} is too large")
    return labels.astype(np.int64)


def class_names(names: np.ndarray | None, labels: np.ndarray, text: str) -> tuple[str, ...]:
    """The names of the classes, or their numbers where there are none; every label must be one of them, or −1: unknown."""
    if names is None:
        if labels.max() < 0:
            raise UserError(f"{text}: no image has a label, and there are no 'classes'; name the classes")
        if labels.max() >= MOST_CLASSES:
            raise UserError(f"{text}: label {labels.max()} without 'classes'; name the classes, or number them from 0")
        classes = tuple(map(str, range(int(labels.max()) + 1)))
    else:
        classes = different(_words(np.asarray(names), "classes", text), f"{text}: classes", "name")
        if "" in classes:
            raise UserError(f"{text}: class {classes.index('')} has an empty name; name it")
    outside = np.flatnonzero((labels < -1) | (labels >= len(classes)))
    if len(outside):
        row = int(outside[0])
        raise UserError(f"{text}: label {labels[row]} of image {row} is outside the {len(classes)} classes")
    return classes


def sample_ids(ids: np.ndarray | None, count: int, text: str) -> tuple[str, ...]:
    """The ids, or the images' numbers where there are none."""
    if ids is None:
        return tuple(f"{number:06d}" for number in range(count))
    names = tuple(_words(np.asarray(ids), "ids", text))
    if len(names) != count or len(set(names)) < count:
        twice, often = Counter(names).most_common(1)[0] if names else ("", 0)
        also = f" ('{twice[:60]}' stands there {often} times)" if often > 1 else ""
        raise UserError(f"{text}: expected {count} different ids, got {len(set(names))}{also}")
    return names


def number_boxes(boxes: np.ndarray, count: int, text: str) -> np.ndarray:
    """float [count, k, 4]: corners in pixels. A box of nan alone is none, so images may have fewer than k."""
    if boxes.dtype.kind not in "iuf" or boxes.ndim not in (2, 3) or boxes.shape[0] != count or boxes.shape[-1] != 4:
        raise UserError(
            f"{text}: expected boxes as numbers [{count}, 4] or [{count}, k, 4] (x0, y0, x1, y1), got {_type(boxes)}"
        )
    corners = np.array(boxes, np.float64).reshape(count, -1, 4)  # not mapped: the file may be cut while they are used
    turned = (corners[..., 2:] < corners[..., :2]).any(2)
    wrong = (~(np.abs(corners) <= FARTHEST).all(2) & ~np.isnan(corners).all(2)) | turned
    if wrong.any():
        row, number = (int(place) for place in np.argwhere(wrong)[0])
        raise UserError(
            f"{text}: box {number} of image {row} is {', '.join(f'{c:g}' for c in corners[row, number])}; "
            "expected x0, y0, x1, y1 in pixels, the smaller first (four times nan for no box)"
        )
    return corners


def check_masks(masks: np.ndarray, images: np.ndarray, text: str) -> None:
    """Refuse what is not bool or whole numbers [N, H, W]."""
    wanted = images.shape[:3]
    if masks.shape != wanted or masks.dtype.kind not in "biu":
        advice = "; save them as masks > 0.5" if masks.shape == wanted and masks.dtype.kind == "f" else ""
        raise UserError(f"{text}: expected masks as bool or whole numbers {list(wanted)}, got {_type(masks)}{advice}")


def _words(values: np.ndarray, name: str, text: str) -> list[str]:
    if values.ndim != 1 or values.dtype.kind not in "USiuO":
        raise UserError(f"{text}: expected {name} as text or whole numbers in one dimension, got {_type(values)}")
    return texts(values, f"{text}: '{name}'")


def _type(array: np.ndarray) -> str:
    return f"{array.dtype} {list(array.shape)}"
