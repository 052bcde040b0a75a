"""Cells: what is asked, and under which key the answers are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset, some_sizes
from snellen.distort import Distortion, Saliency, saliency_of
from snellen.engine.requests.map import BoundMap, MapRequest, bind_map
from snellen.engine.requests.search import SearchRequest
from snellen.engine.requests.survey import SurveyRequest
from snellen.engine.requests.trial import Trial
from snellen.engine.settings import Settings
from snellen.errors import UserError
from snellen.hashing import key_of
from snellen.models.labels import LabelMap
from snellen.models.subject import Subject


@dataclass(frozen=True)
class Cell:
    """One question to every model: a distortion of one of the datasets (`on`: test, train …) under a seed.

    A trial or a search, whose questions depend on answers, or a survey, which looks into the model, stands in the distortion's
    place.
    """

    distortion: Distortion | Trial | SearchRequest | SurveyRequest
    on: str = "test"
    seed: int = 0

    @property
    def as_distortion(self) -> Distortion:
        """The distortion of a cell that is no trial."""
        if not isinstance(self.distortion, Distortion):
            raise ValueError(f"expected a cell with a distortion, got {self.distortion}")
        return self.distortion

    @property
    def as_trial(self) -> Trial:
        """The trial of a cell that asks as it goes."""
        if not isinstance(self.distortion, Trial):
            raise ValueError(f"expected a cell with a trial, got {self.distortion}")
        return self.distortion

    @property
    def as_search(self) -> SearchRequest:
        """The search of a cell that tries edits as it goes."""
        if not isinstance(self.distortion, SearchRequest):
            raise ValueError(f"expected a cell with a search, got {self.distortion}")
        return self.distortion

    @property
    def as_survey(self) -> SurveyRequest:
        """The survey of a cell that walks over all images."""
        if not isinstance(self.distortion, SurveyRequest):
            raise ValueError(f"expected a cell with a survey, got {self.distortion}")
        return self.distortion

    @property
    def saliency(self) -> Saliency | None:
        """The maps that its distortion or trial needs, of each model its own; None where it needs none."""
        if isinstance(self.distortion, Distortion):
            return saliency_of(self.distortion)
        return self.distortion.saliency if isinstance(self.distortion, Trial) else None

    def __str__(self) -> str:
        return f"{self.distortion} on {self.on}, seed {self.seed}"


@dataclass(frozen=True)
class BoundCell:
    """A cell as put to one run of one model, with the keys of its answers and of what was shown, and the maps it needs."""

    key: str
    shown: str
    cell: Cell
    subject: Subject
    canvas: Canvas
    labels: LabelMap
    map: BoundMap | None = None

    @property
    def distortion(self) -> Distortion | Trial | SearchRequest | SurveyRequest:
        """What the images are shown under."""
        return self.cell.distortion

    @property
    def on(self) -> str:
        """The role of the data, test or train."""
        return self.cell.on

    @property
    def seed(self) -> int:
        """The seed of the draws."""
        return self.cell.seed

    @property
    def classifies(self) -> bool:
        """Whether the model is asked for the class of each image."""
        return self.subject.card.task == "classification"

    @property
    def task(self) -> str:
        """What the model is asked to do, as a sentence about failures names it."""
        return f"under {self.distortion}"

    @property
    def passes(self) -> int:
        """Forward passes per image."""
        return 1

    def row(self, data: Dataset, settings: Settings) -> dict[str, Any]:
        """This cell's row in the `cells` table."""
        return {
            "cell": self.key,
            "shown": self.shown,
            "model": self.subject.name,
            "run": self.subject.run,
            "on": self.cell.on,
            "data": data.text,
            "distortion": str(self.cell.distortion),
            "version": str(self.cell.distortion.version),
            "seed": self.cell.seed,
            "canvas": str(self.canvas),
            "precision": precision_of(self.cell, self.subject, settings),
            "rule": self.labels.rule,
            "model_fingerprint": self.subject.card.fingerprint,
            "data_fingerprint": data.fingerprint,
            "map": self.map.key if self.map else "",
            "samples": len(data),
        }


def precision_of(cell: Cell, subject: Subject, settings: Settings) -> str:
    """The precision of a cell's answers: trials, searches and surveys, whose batches differ, are never compiled."""
    return settings.precision_of(subject.card.gradients and isinstance(cell.distortion, Distortion))


def canvas_for(subject: Subject, data: Dataset) -> Canvas:
    """The model's canvas, or the data's own size where the model names none."""
    if subject.card.canvas is not None:
        return subject.card.canvas
    if data.size is None:
        raise _no_size(subject, data)
    return Canvas(data.size[0], data.size[1], "native")


def _no_size(subject: Subject, data: Dataset) -> UserError:
    """Says what is known of the photos' sizes, and which size to give the model."""
    sizes = some_sizes(data)
    height, width = sizes[0] if len(sizes) == 1 else (224, 224)
    if len(sizes) == 1:
        known = f"{data.text} states none for its photos; those looked at are {height}x{width}"
    elif sizes:
        known = f"{data.text} holds photos of several, such as {' and '.join(f'{h}x{w}' for h, w in sizes[:2])}"
    else:
        known = f"none is known of the photos of {data.text}"
    text = subject.card.text
    if text.startswith(("zoo:", "chat:", "http:", "https:")):
        how = f"'{text}{'&' if '#' in text else '#'}size={height if height == width else f'{height}x{width}'}'"
        how += ", or preprocess as published weights do: #like=NAME" if text.startswith("zoo:") else ""
    else:
        how = f"snellen.models.from_torch(module, size={height if height == width else (height, width)})"
    return UserError(f"model '{subject.name}' names no image size and {known}; give it one: {how}")


def bind_cell(
    cell: Cell, subject: Subject, data: Dataset, labels: LabelMap, settings: Settings, pools: Mapping[str, str]
) -> BoundCell:
    """The cell as put to one run, keyed by everything its answers depend on (contract 3).

    `pools` are the fingerprints of what may be pasted, by name: donors, occluders.
    """
    canvas = canvas_for(subject, data)
    needs = cell.distortion.needs
    facts: dict[str, Any] = {}
    if "mean" in needs:
        facts["mean"] = subject.card.fill
    facts |= {name: fingerprint for name, fingerprint in pools.items() if name in needs}
    saliency, needed_map = cell.saliency, None
    if saliency is not None:  # each model has its own maps, so what it is shown is its own too
        request = MapRequest(saliency.method, saliency.layer, cell.on)
        ranked = isinstance(cell.distortion, Distortion)
        needed_map = bind_map(request, subject, data, canvas, settings, ranked=ranked)
        facts["saliency"] = needed_map.key
    shown = key_of(
        [data.fingerprint, str(canvas), str(cell.distortion), str(cell.distortion.version), cell.seed, facts]
    )
    precision = precision_of(cell, subject, settings)
    question = [shown, subject.card.fingerprint, labels.fingerprint, precision, settings.keep]
    key = key_of(question if subject.card.task == "classification" else [*question, subject.card.task])
    return BoundCell(key, shown, cell, subject, canvas, labels, needed_map)
