"""WSOL, weakly supervised object localisation: the box around what a map marks, against the object's own box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.regions import Boxes, checked_maps, region_boxes, spans, tight_boxes, usable

Component = Literal["all", "largest"]
THRESHOLD = 0.15  # that of Yun et al. 2019


def wsol_iou(
    maps: ArrayLike, boxes: Boxes, threshold: float = THRESHOLD, component: Component = "all"
) -> NDArray[np.float64]:
    """How well the box that a map suggests fits the object's, float64 [B]: IoU with the box that fits it best.

    The suggested box is the smallest around all pixels of at least `threshold` (0 to 1) of the map's maximum, or around the
    `largest` of their components (8 neighbours). `boxes`, and where it is nan, as for `energy_pointing_game`; of a mask
    the box around it counts.

    >>> import numpy as np
    >>> from snellen.measure import wsol_iou
    >>> maps = np.zeros((1, 4, 4))
    >>> maps[0, :2, :2] = 1
    >>> wsol_iou(maps, [[[0, 0, 4, 2]]]).tolist()
    [0.5]
    """
    return wsol_sweep(maps, boxes, (threshold,), component)[0]


def wsol_sweep(
    maps: ArrayLike, boxes: Boxes, thresholds: Sequence[float], component: Component = "all"
) -> NDArray[np.float64]:
    """`wsol_iou` at several thresholds, float64 [thresholds, B]: how far it hangs on the one that is chosen.

    >>> import numpy as np
    >>> from snellen.measure import wsol_sweep
    >>> maps = np.array([[[1.0, 0.4], [0.0, 0.0]]])
    >>> wsol_sweep(maps, [[[0, 0, 1, 1]]], thresholds=[0.3, 0.5]).tolist()
    [[0.5], [1.0]]
    """
    heat = checked_maps(maps)
    own = region_boxes(boxes, heat.shape)
    known = usable(heat) & np.array([len(image_boxes) > 0 for image_boxes in own], bool)
    fits = np.full((len(thresholds), len(heat)), np.nan)
    suggestions = _suggestions(heat, thresholds, component)
    for place in np.flatnonzero(known):
        fits[:, place] = _best_iou(suggestions[:, place, None], own[place])
    return fits


def suggested_boxes(maps: ArrayLike, threshold: float = THRESHOLD, component: Component = "all") -> NDArray[np.int64]:
    """The boxes that `wsol_iou` compares, int64 [B, 4] as x0, y0, x1, y1, maximum exclusive; of a map without a value
    above 0 that of the whole image, or 0.

    >>> import numpy as np
    >>> from snellen.measure import suggested_boxes
    >>> maps = np.zeros((1, 4, 4))
    >>> maps[0, 1:3, 2] = 1
    >>> suggested_boxes(maps).tolist()
    [[2, 1, 3, 3]]
    """
    return _suggestions(checked_maps(maps), (threshold,), component)[0]


def _suggestions(heat: NDArray[Any], thresholds: Sequence[float], component: Component) -> NDArray[np.int64]:
    """The suggested boxes at each threshold, int64 [thresholds, B, 4]."""
    for threshold in thresholds:
        if not 0 <= threshold <= 1:
            raise ValueError(f"expected a threshold in [0, 1], got {threshold:g}")
    if component not in ("all", "largest"):
        raise ValueError(f"expected component to be all or largest, got {component!r}")
    columns, rows = heat.max(1), heat.max(2)  # a column is reached where its maximum is: no pixel is looked at again
    highest = np.asarray(rows.max(1, keepdims=True), np.float64)
    highest = np.where(np.isfinite(highest), highest, 0)  # such a map is not judged
    if component == "all":
        boxes = [spans(columns >= threshold * highest, rows >= threshold * highest) for threshold in thresholds]
    else:
        boxes = [tight_boxes(_largest_components(heat >= threshold * highest[:, :, None])) for threshold in thresholds]
    return np.stack(boxes) if boxes else np.zeros((0, len(heat), 4), np.int64)


def _largest_components(masks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The component of most pixels of each mask, the first of equals."""
    from scipy import ndimage

    neighbours = np.zeros((3, 3, 3), bool)
    neighbours[1] = True  # within an image, not from one to the next
    labels, count = ndimage.label(masks, neighbours)
    sizes = np.bincount(labels.reshape(-1), minlength=count + 1)
    sizes[0] = 0
    largest = sizes[labels].reshape(len(masks), -1).argmax(1)
    chosen = labels.reshape(len(masks), -1)[np.arange(len(masks)), largest]
    return np.asarray((labels == chosen[:, None, None]) & masks)


def _best_iou(boxes: NDArray[np.int64], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """The best IoU of boxes [n, 1, 4] with any of the object's own [m, 4], float64 [n]."""
    near, far = np.maximum(boxes[..., :2], own[:, :2]), np.minimum(boxes[..., 2:], own[:, 2:])
    shared = np.clip(far - near, 0, None).prod(-1)
    areas = [(corners[..., 2:] - corners[..., :2]).prod(-1) for corners in (boxes, own)]
    return np.asarray((shared / (areas[0] + areas[1] - shared)).max(-1))
