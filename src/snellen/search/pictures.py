"""The images of a search: all of a dataset on one canvas, with what is known of their places."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.canvas import Canvas, Rendered, Unshowable, render
from snellen.data.dataset import Dataset, Photo, Unreadable
from snellen.errors import UserError
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Pictures:
    """Images uint8 [N, 3, H, W]; and where the data have them masks bool [N, H, W], label maps int32 [N, H, W] (−1: no label)
    and boxes, float [n, 4] of each image."""

    images: Tensor
    masks: Tensor | None
    label_maps: Tensor | None
    boxes: list[np.ndarray] | None


def put_on_canvas(data: Dataset, canvas: Canvas) -> Pictures:
    """Every image of a dataset on the canvas; one that cannot be read or shown is an error that names it."""
    chunks = [range(start, min(start + data.chunk, len(data))) for start in range(0, len(data), data.chunk)]
    with ThreadPoolExecutor(max_workers=4, thread_name_prefix="decode") as pool:
        parts = pool.map(lambda rows: _rendered(data, rows, canvas), chunks)
        rendered = [picture for part in parts for picture in part]
    if not rendered:
        raise UserError(f"{data.text} holds no images")
    size = (len(rendered), canvas.height, canvas.width)
    maps = {"masks": "mask", "labels": "labels"}
    masks, label_maps = (_stacked(rendered, maps[fact], size) if fact in data.facts else None for fact in maps)
    empty = np.zeros((0, 4))
    return Pictures(
        torch.from_numpy(np.stack([picture.image for picture in rendered])),
        None if masks is None else masks != 0,
        None if label_maps is None else label_maps.to(torch.int32) - 1,
        [empty if picture.boxes is None else picture.boxes for picture in rendered] if "boxes" in data.facts else None,
    )


def _rendered(data: Dataset, rows: Sequence[int], canvas: Canvas) -> list[Rendered]:
    rendered = []
    for row, photo in zip(rows, data.read(rows)):
        try:
            if isinstance(photo, Unreadable):
                raise Unshowable(photo.reason)
            rendered.append(render(_with_room(photo), canvas))
        except Unshowable as error:
            raise UserError(f"{data.text}: cannot show '{data.samples.ids[row]}': {error}; leave it out") from None
    return rendered


def _with_room(photo: Photo) -> Photo:
    """The photo with its label map as class + 1, so that 0, which a canvas pads with, is no label."""
    if "labels" not in photo.maps:
        return photo
    classes = photo.maps["labels"].astype(np.int32)
    return replace(photo, maps={**photo.maps, "labels": np.where(classes < 0, 0, classes + 1)})


def _stacked(rendered: Sequence[Rendered], name: str, size: tuple[int, int, int]) -> Tensor:
    maps = [picture.maps.get(name) for picture in rendered]
    blank = np.zeros(size[1:], np.int32)
    return torch.from_numpy(np.stack([blank if plane is None else plane.astype(np.int32) for plane in maps]))
