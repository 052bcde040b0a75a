"""Reference images: what is usual at a layer of a model, estimated once per model, layer and data, and kept."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.canvas import Canvas, Unshowable, render
from snellen.data.dataset import Dataset, Photo, limited
from snellen.errors import UserError
from snellen.explain.network import eval_mode, open_network
from snellen.explain.splice import Splice, make_splice
from snellen.explain.statistics import FeatureStatistics, read_statistics, statistics_of, write_statistics
from snellen.files.plain import snellen_home
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor, nn

MOST = 5000  # images of a dataset that statistics are estimated from, chosen by a hash of their ids
FEW = 1000  # under so many a user is warned
BATCH = 64
DECODERS = 4
VERSION = 1  # bumped when other statistics come of the same images


def few_images(count: int, source: str = "", method: str = "iba") -> str | None:
    """What a user should read where `count` images are few to estimate from."""
    if count >= FEW:
        return None
    of = f" of {source}" if source else ""
    return f"{method} estimates what is usual from {count:,} images{of}; maps are reliable from {FEW:,} on"


def warn_of_few(count: int) -> None:
    """Warn a caller from Python."""
    if (text := few_images(count)) is not None:
        warnings.warn(text, stacklevel=3)


def estimate(model: Model | nn.Module, batches: Iterable[Tensor], layer: int | str | None) -> FeatureStatistics:
    """The statistics of a layer's features over batches of images as the model takes them; only the first part is run."""
    splices: dict[tuple[int, ...], Splice] = {}

    def features() -> Iterator[Tensor]:
        for images in batches:
            opened = open_network(model, images)
            pixels = opened.normalise(images)
            shape = tuple(pixels.shape[1:])
            with eval_mode(opened.network):
                if shape not in splices:
                    spot = opened.pick(pixels, layer, bottleneck=True)
                    splices[shape] = make_splice(opened, pixels, spot)
                for some in pixels.split(BATCH):
                    yield splices[shape].features(some)

    return statistics_of(features())


def load_statistics(
    model: Model, data: Dataset | str, layer: int | str | None, canvas: Canvas | None = None
) -> FeatureStatistics:
    """The statistics of a dataset's images on a canvas (the model's own), read from the cache folder where they are kept."""
    from snellen.data import as_data

    some = limited(as_data(data), MOST)
    canvas = canvas or _canvas(model, some)
    blank = torch.zeros((1, 3, canvas.height, canvas.width), dtype=torch.uint8)  # to find the layer by
    opened = open_network(model, blank)
    with eval_mode(opened.network):
        name = opened.pick(opened.normalise(blank), layer, bottleneck=True).name
    facts = [VERSION, model.card.fingerprint, model.precision, name, some.fingerprint, str(canvas)]
    path = snellen_home() / "statistics" / f"{key_of(facts)}.safetensors"
    statistics = read_statistics(path)
    if statistics is None:
        statistics = estimate(model, _rendered(some, canvas), layer)
        write_statistics(path, statistics)
    return statistics


def _canvas(model: Model, data: Dataset) -> Canvas:
    if model.canvas is not None:
        return model.canvas
    if data.size is None:
        raise UserError(
            f"model '{model.name}' names no image size and the photos of {data.text} have several; give it one"
        )
    return Canvas(data.size[0], data.size[1], "native")


def _rendered(data: Dataset, canvas: Canvas) -> Iterator[Tensor]:
    """The images uint8 [n, 3, H, W] of a dataset, batch by batch; those that cannot be read or shown are left out."""

    def render_some(rows: list[int]) -> list[np.ndarray]:
        images = []
        for photo in data.read(rows):
            if isinstance(photo, Photo):
                try:
                    images.append(render(photo, canvas).image)
                except Unshowable:  # it is listed where the answers are
                    continue
        return images

    some = False
    with ThreadPoolExecutor(max_workers=DECODERS) as pool:
        for start in range(0, len(data), BATCH):
            rows = list(range(start, min(start + BATCH, len(data))))
            chunks = [rows[at : at + data.chunk] for at in range(0, len(rows), data.chunk)]
            images = [image for part in pool.map(render_some, chunks) for image in part]
            if images:
                some = True
                yield torch.from_numpy(np.stack(images))
    if not some:
        raise UserError(f"none of the images of {data.text} can be read, so nothing usual can be estimated from them")
