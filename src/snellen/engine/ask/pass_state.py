"""The work on one dataset: what is asked of whom, and what distortions may know of the images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset
from snellen.distort import View
from snellen.engine.ask.canvas_pools import CanvasPools
from snellen.engine.ask.maps import ShardMaps
from snellen.engine.ask.slides import Slides
from snellen.engine.keep.failures import Failure
from snellen.engine.requests.cell import BoundCell
from snellen.engine.requests.map import BoundMap
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor


@dataclass
class PassState:
    """What is to be answered on one dataset: the cells, the loaded models and what distortions may know.

    `batch` may shrink while running, when a device's memory is too small for it; `unreadable` and `failed` grow with
    the images that cannot be shown or answered, until they are too many. `maps` are those that cells need and those that
    were asked for, what others rest on first; `held` looks up the stored ones of a key for the samples at some positions.
    """

    on: str
    data: Dataset
    asked: Sequence[BoundCell]
    models: Mapping[str, Model]  # by model fingerprint
    batch: dict[Canvas, int]
    device: Any
    new: frozenset[str] = frozenset()
    pools: CanvasPools = field(default_factory=CanvasPools)
    pictured: frozenset[int] = frozenset()
    keep: str | None = None
    maps: Sequence[BoundMap] = ()
    held: Callable[[str, range], ShardMaps | None] = lambda key, positions: None
    on_answers: Callable[[int], None] = lambda images: None
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    failed: dict[str, list[Failure]] = field(default_factory=dict)  # by cell or map


def view_of(
    one: BoundCell | BoundMap,
    slides: Slides,
    labels: np.ndarray,
    work: PassState,
    masks: Tensor | None,
    maps: ShardMaps | None = None,
    empty: np.ndarray | None = None,
) -> View:
    """What the distortion of a request may know of some slides; `maps` are those that it needs."""
    return View(
        keys=slides.keys,
        seed=one.seed,
        device=work.device,
        labels=labels,
        masks=masks,
        empty=empty,
        boxes=slides.boxes.get(one.canvas),
        mean=one.subject.card.fill,
        donors=work.pools.donors_for(one),
        occluders=work.pools.occluders,
        saliency=None if maps is None else maps.maps,
        ranks=None if maps is None else maps.ranks,
    )


def without_object(slides: Slides, canvas: Canvas) -> np.ndarray | None:
    """bool [n]: whose mask is empty, known here so that no device has to be waited for."""
    outlines = slides.masks.get(canvas)
    return None if outlines is None else (~outlines.flatten(1).any(1)).numpy()


def map_under(one: BoundCell | BoundMap, maps: Mapping[str, ShardMaps]) -> ShardMaps | None:
    """The maps that the distortion of a request needs, if any."""
    return maps[one.map.key] if one.map else None
