"""A dataset decoded once, as one tensor on the device it is trained on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.dataset import Dataset, Photos, Unreadable
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.train.mixing import IGNORE

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class ImagesInMemory:
    """Images uint8 [N, 3, H, W] and labels on one device: int64 [N], or label maps int16 [N, H, W].

    `groups` is the number of each image's group, int64 [N], where the training weighs groups.
    """

    images: Tensor
    labels: Tensor
    groups: Tensor | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Height and width in pixels."""
        return self.images.shape[2], self.images.shape[3]


def remember(
    data: Dataset,
    device: torch.device,
    size: tuple[int, int] | None = None,
    ignore: int = IGNORE,
    *,
    labelled: bool = True,
) -> ImagesInMemory:
    """Every image of a dataset, all of one size (height, width): the first image's where none is given.

    The labels are the photos' label maps where the dataset has them (`labels` among its facts), `ignore` in them made
    −100. An image that is unreadable, unlabelled (where it must be `labelled`) or of another size is an error that names it.
    """
    if not len(data):
        raise UserError(f"{data.text} holds no images")
    mapped = has_label_maps(data)
    unlabelled = np.flatnonzero(data.samples.labels < 0)
    if labelled and len(unlabelled) and not mapped:
        first = data.samples.ids[unlabelled[0]]
        raise UserError(f"{data.text}: {len(unlabelled)} images have no label, the first is '{first}'; leave them out")
    images: np.ndarray | None = None
    maps: np.ndarray | None = None
    row = 0
    for photos in _photos(data):
        shape = photos.images.shape[1:3]
        if row == 0 and size is not None and shape != size:
            raise UserError(
                f"{data.text}: expected images of {_pixels(size)} pixels as in training, got {_pixels(shape)}"
            )
        if images is None:
            images = np.empty((len(data), *shape, 3), np.uint8)
            maps = np.empty((len(data), *shape), np.int16) if mapped else None
        if shape != images.shape[1:3]:
            first, other = data.samples.ids[0], data.samples.ids[row]
            raise UserError(
                f"{data.text} holds images of different sizes: '{first}' is {_pixels(images.shape[1:3])},"
                f" '{other}' is {_pixels(shape)}; resize them to one size"
            )
        rows = slice(row, row + len(photos.images))
        images[rows] = photos.images
        if maps is not None:
            maps[rows] = np.where(photos.maps["labels"] == ignore, IGNORE, photos.maps["labels"])
        row = rows.stop
    assert images is not None
    stacked = torch.from_numpy(images).permute(0, 3, 1, 2)
    labels = torch.from_numpy(data.samples.labels.astype(np.int64) if maps is None else maps)
    return ImagesInMemory(stacked.to(device).contiguous(), labels.to(device))


def has_label_maps(data: Dataset) -> bool:
    """Whether the labels are per pixel, in the photos' maps."""
    return "labels" in data.facts


def channel_statistics(images: Tensor) -> tuple[list[float], list[float]]:
    """Mean and standard deviation of each channel in 0..1, exact from the counts of the 256 grey levels."""
    levels = np.arange(256) / 255
    means, deviations = [], []
    for channel in range(images.shape[1]):
        counts = torch.bincount(images[:, channel].flatten(), minlength=256).cpu().numpy()
        share = counts / counts.sum()
        mean = float(share @ levels)
        means.append(mean)
        deviations.append(max(float(share @ (levels - mean) ** 2) ** 0.5, 1 / 255))  # a flat channel divides by 1 level
    return means, deviations


def _photos(data: Dataset) -> Iterator[Photos]:
    """The decoded samples in order, some together, read by several threads."""
    chunks = [range(start, min(start + data.chunk, len(data))) for start in range(0, len(data), data.chunk)]
    with ThreadPoolExecutor() as pool:
        if data.read_together is not None:
            yield from pool.map(data.read_together, chunks)
            return
        for rows, photos in zip(chunks, pool.map(data.read, chunks)):
            for row, photo in zip(rows, photos):
                if isinstance(photo, Unreadable):
                    raise UserError(f"{data.text}: cannot read '{data.samples.ids[row]}': {photo.reason}; leave it out")
                yield Photos(photo.image[None], [photo.checksum], None, {k: v[None] for k, v in photo.maps.items()})


def _pixels(size: tuple[int, ...]) -> str:
    return "x".join(map(str, size))
