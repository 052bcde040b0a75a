"""The state of a pass over one dataset: which models are asked what, and what distortions may know of the images."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset
from snellen.distort import View
from snellen.distort.draws import on_device
from snellen.engine.ask.canvas_pools import CanvasPools
from snellen.engine.ask.maps import ShardMaps
from snellen.engine.ask.slides import Slides
from snellen.engine.ask.task_answers import TaskTruth, truth_of
from snellen.engine.keep.failures import Failure
from snellen.engine.requests.cell import BoundCell
from snellen.engine.requests.map import BoundMap
from snellen.explain.methods import method_of
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor


@dataclass
class PassState:
    """What is to be answered on one dataset: the cells, the loaded models and what distortions may know.

    `batch` may shrink while running, when a device's memory is too small for it; `unreadable` and `failures` grow with
    the images that cannot be shown or answered, until they are too many. `maps` are those that cells need and those that
    were asked for, what others rest on first; `read_maps` looks up the stored ones of a key for the samples at some positions,
    `shard` of which are stored together.
    """

    on: str
    data: Dataset
    cells: Sequence[BoundCell]
    models: Mapping[str, Model]  # by model fingerprint
    batch: dict[Canvas, int]
    device: Any
    new: frozenset[str] = frozenset()
    pools: CanvasPools = field(default_factory=CanvasPools)
    pictured: frozenset[int] = frozenset()
    keep: str | None = None
    maps: Sequence[BoundMap] = ()
    read_maps: Callable[[str, range], ShardMaps | None] = lambda key, positions: None
    shard: int = 1
    on_answers: Callable[[int], None] = lambda images: None
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    failures: dict[str, list[Failure]] = field(default_factory=dict)  # by cell or map
    statistics: dict[tuple[str, str, int | str | None, Canvas], Any] = field(default_factory=dict)

    def statistics_for(self, wanted: BoundMap) -> Any:
        """What the method of a map knows of usual images, those of this dataset, where it needs that; estimated once."""
        request, card = wanted.request, wanted.subject.card
        reference = method_of(request.method).reference
        if reference is None:
            return None
        key = (request.method, card.fingerprint, request.layer, wanted.canvas)
        if key not in self.statistics:
            model = self.models[card.fingerprint]
            self.statistics[key] = reference.estimate(model, self.data, request.layer, wanted.canvas)
        return self.statistics[key]

    @property
    def task(self) -> str:
        """What all models of the pass are for."""
        return self.cells[0].subject.card.task if self.cells else "classification"


@dataclass(frozen=True)
class CanvasSlides:
    """Slides on one canvas, on the device: images uint8 [n, 3, H, W] and, where masks are known, bool [n, H, W].

    `labels` are [n] on the host; `empty`, bool [n], says whose mask has no pixel, known so that no device has to be waited for.
    `truth` is what models of other tasks than classification are to find.
    """

    slides: Slides
    labels: np.ndarray
    images: Tensor
    masks: Tensor | None
    empty: np.ndarray | None
    truth: TaskTruth | None = None

    @functools.cached_property
    def targets(self) -> Tensor:
        """The labels on the device; sent once."""
        return on_device(self.labels, self.images.device)


def put_on_device(
    slides: Slides, canvas: Canvas, labels: np.ndarray, device: Any, task: str = "classification"
) -> CanvasSlides:
    """The slides of one canvas, sent to the device without waiting for it, with what models of a task are to find."""
    images = slides.images[canvas].to(device, non_blocking=True)
    masks = slides.masks[canvas].to(device, non_blocking=True) if canvas in slides.masks else None
    empty = _without_object(slides, canvas) if images.device.type != "cpu" else None
    truth = None
    if task != "classification":
        truth = truth_of(task, slides.label_maps.get(canvas), slides.boxes.get(canvas), device)
    return CanvasSlides(slides, labels, images, masks, empty, truth)


def view_of(
    request: BoundCell | BoundMap,
    on_canvas: CanvasSlides,
    work: PassState,
    maps: ShardMaps | None = None,
    ranked: bool = True,
) -> View:
    """What the distortion of a request may know of some slides; `maps` are those that it needs, as bytes with the order of their
    pixels where that is wanted, else as they are stored."""
    return View(
        keys=on_canvas.slides.keys,
        seed=request.seed,
        device=work.device,
        labels=on_canvas.labels,
        masks=on_canvas.masks,
        empty=on_canvas.empty,
        boxes=on_canvas.slides.boxes.get(request.canvas),
        mean=request.subject.card.fill,
        donors=work.pools.donors_for(request),
        occluders=work.pools.occluders,
        saliency=None if maps is None else maps.bytes if ranked else maps.maps,
        ranks=None if maps is None or not ranked else maps.ranks,
    )


def _without_object(slides: Slides, canvas: Canvas) -> np.ndarray | None:
    """bool [n]: whose mask is empty, known here so that no device has to be waited for."""
    outlines = slides.masks.get(canvas)
    return None if outlines is None else (~outlines.flatten(1).any(1)).numpy()


def map_under(request: BoundCell | BoundMap, maps: Mapping[str, ShardMaps]) -> ShardMaps | None:
    """The maps that the distortion of a request needs, if any."""
    return maps[request.map.key] if request.map else None
