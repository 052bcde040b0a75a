"""Dissection as a function: one model, one layer, one dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.concepts.dissection import Dissection, iou_of
from snellen.concepts.sources import default_sources
from snellen.data import as_data
from snellen.data.concept_maps import Concept
from snellen.data.dataset import Dataset
from snellen.engine.requests.cell import canvas_for
from snellen.engine.requests.survey import Ground
from snellen.engine.settings import Settings
from snellen.measure import detector_units
from snellen.measure.detectors import DetectorUnits
from snellen.models import load_model
from snellen.models.model import Model, as_model
from snellen.models.subject import Subject

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Dissected:
    """What the units of a layer follow.

    `iou` [units, concepts] is over all pixels of all images; `units` says which are detectors and of what; a unit's
    mask is where it exceeds its `threshold`, `tops` are the ids of the images that excite it most.
    """

    layer: str
    concepts: tuple[Concept, ...]
    iou: np.ndarray
    thresholds: np.ndarray
    tops: tuple[tuple[str, ...], ...]
    units: DetectorUnits


def dissect(
    model: str | Model | nn.Module,
    data: str | Dataset,
    layer: int | str | None = None,
    concepts: Sequence[str] = (),
    threshold: float = 0.04,
    **settings: Any,
) -> Dissected:
    """Which concepts the units of a layer of a torch model detect (Bau et al. 2017), as the audit `concepts` counts them.

    `layer` is as for `gradcam`; `concepts` are sources such as `data`, `colours`, `labels:DIR` or `model:TEXT`, also with a
    table of the classes that are no objects (`model:TEXT?categories=FILE`). Further settings: `quantile` of the
    values (0.99), `grid` of cells per side (56), `tops`, the number of images kept per unit (5).

    >>> from snellen.explain import dissect
    >>> from snellen.train import preset, train
    >>> (path,) = train(preset(None, arch="smallnet", epochs=1), "phantom:train?size=32&n=24", "nets", quiet=True)
    >>> found = dissect(str(path), "phantom:test?size=32&n=12")
    >>> found.iou.shape
    (96, 74)
    """
    dataset = as_data(data)
    network = load_model(model) if isinstance(model, str) else as_model(model)
    request = Dissection(layer, tuple(concepts) or default_sources(dataset.facts), **settings)
    request.check(dataset)
    canvas = canvas_for(Subject(network.name, "", network.card, network), dataset)
    how = Settings(device=str(network.device))
    table = request.run(Ground(network, dataset, canvas, how.batch_for(canvas), how.decoders))
    names, categories = table.things["concept"], table.things["category"]
    iou = iou_of(table)
    return Dissected(
        table.rows[0]["layer"],
        tuple(Concept(category, name) for category, name in zip(categories, names)),
        iou,
        np.array([row["threshold"] for row in table.rows]),
        tuple(tuple(row["tops"]) for row in table.rows),
        detector_units(iou, names, categories, threshold),
    )
