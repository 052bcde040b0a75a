"""Network dissection as a survey: thresholds in a first walk over all images, overlaps with concepts in a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.concepts.pictures import draw_units
from snellen.concepts.probes import Probe, Probes
from snellen.concepts.sources import check_sources, fingerprint_of, open_sources
from snellen.concepts.tally import Tally
from snellen.concepts.thresholds import Histogram
from snellen.concepts.upsampling import enlarge
from snellen.data.dataset import Dataset
from snellen.engine.keep.failures import describe_error
from snellen.engine.keep.survey_checkpoint import Checkpoint
from snellen.engine.requests.survey import Ground, SurveyRequest, SurveyTable
from snellen.errors import UserError
from snellen.explain.layer_reader import layer_reader
from snellen.hashing import key_of
from snellen.lazy_torch import torch
from snellen.measure import concept_iou
from snellen.notation import text_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

AT_ONCE = {"cpu": 1 << 22, "cuda": 1 << 28}  # values that are looked at together, in units × cells × images


@dataclass(frozen=True)
class Dissection(SurveyRequest):
    """Where every unit of a `layer` is among its highest values, and how that overlaps with the concepts of `sources`.

    A unit's mask is where its values, brought to a `grid` of cells per side (fewer where the image has fewer pixels), exceed
    their `quantile` over all images. The best `tops` images of each unit are kept. The table has a row per unit.
    """

    layer: int | str | None = None
    sources: tuple[str, ...] = ("data", "colours")
    quantile: float = 0.99
    grid: int = 56
    tops: int = 5

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(self.sources))
        if not self.sources:
            raise ValueError("expected at least one source of concepts, such as data or colours")
        if not 0 < self.quantile < 1:
            raise ValueError(f"expected quantile between 0 and 1, got {self.quantile:g}")
        for name, most in (("grid", 512), ("tops", 100)):
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"expected {name} from 1 to {most}, got {getattr(self, name)}")

    __str__ = text_form

    @property
    def version(self) -> str:
        """What the sources say too: a folder may change under its name."""
        return f"1 {key_of([fingerprint_of(text) for text in self.sources])}"

    @property
    def walks(self) -> int:
        return 2

    def check(self, data: Dataset) -> None:
        check_sources(self.sources, data)

    def run(self, ground: Ground) -> SurveyTable:
        sources = open_sources(self.sources, ground.data, ground.model.device)
        return _Walker(self, ground, Probes(ground, sources, self.grid)).table()


class _Walker:
    """One dissection under way."""

    def __init__(self, request: Dissection, ground: Ground, probes: Probes) -> None:
        self.request, self.ground, self.probes = request, ground, probes
        blank = torch.zeros((1, 3, ground.canvas.height, ground.canvas.width), dtype=torch.uint8)
        self.layer, self.features = layer_reader(ground.model, blank, request.layer)
        device = ground.model.device or torch.device("cpu")
        self.at_once = AT_ONCE["cuda" if device.type == "cuda" else "cpu"]
        units, cells = self.features(blank).shape[1], probes.grid[0] * probes.grid[1]
        self.histogram = Histogram(units, request.quantile, len(ground.data) * cells, device)
        self.tally = Tally(units, len(probes.concepts), request.tops, device)
        self.thresholds = torch.full((units,), torch.nan, device=device)

    def table(self) -> SurveyTable:
        """Both walks, from where an earlier attempt stopped, and what they came to."""
        checkpoint = Checkpoint(self.ground.checkpoint)
        walk, start, arrays = checkpoint.read()
        if not self._fits(walk, start, arrays):
            walk, start, arrays = 0, 0, {}
        self.ground.report(walk * len(self.ground.data) + start)
        if walk == 0:
            self._walk(0, start, arrays, checkpoint)
            self.thresholds, start, arrays = self.histogram.quantile(), 0, {}
        self._walk(1, start, arrays, checkpoint)
        if not self.tally.totals[0]:
            raise UserError(f"none of the {len(self.ground.data)} images of {self.ground.data.text} can be shown")
        return self._table()

    def _fits(self, walk: int, start: int, arrays: Mapping[str, Tensor]) -> bool:
        """Whether a checkpoint is one of this dissection's."""
        if walk not in (0, 1) or not 0 <= start <= len(self.ground.data):
            return False
        own, loaded = (
            {name: (array.shape, array.dtype) for name, array in some.items()} for some in (self._arrays(walk), arrays)
        )
        return own == loaded

    def _arrays(self, walk: int) -> dict[str, Tensor]:
        """All that must be kept to continue a walk."""
        return {**self.tally.arrays(), "thresholds": self.thresholds} if walk else self.histogram.arrays()

    def _walk(self, walk: int, start: int, arrays: Mapping[str, Tensor], checkpoint: Checkpoint) -> None:
        """One walk over the images from a position on, with what was summed before it."""
        sums = (self.histogram, self.tally)[walk]
        if arrays:
            sums.load(arrays)
            self.thresholds = arrays.get("thresholds", self.thresholds).to(self.thresholds.device)
        for probe in self.probes.batches(start):
            for values, labels, positions in self._values(probe):
                if walk == 0:
                    self.histogram.add(values)
                else:
                    self.tally.add(values, self.thresholds, labels, positions)
            start += probe.taken
            checkpoint.keep(walk, start, self._arrays(walk))
            self.ground.report(probe.taken)

    def _values(self, probe: Probe) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Values [n, units, cells], labels [n, maps, cells] and positions of a few images at a time."""
        if not len(probe.images):
            return
        features = read_features(self.features, probe.images, self.ground.model.name, self.layer.name)
        height, width = self.probes.grid
        step = max(1, self.at_once // (features.shape[1] * height * width))
        for first in range(0, len(features), step):
            some = slice(first, first + step)
            yield (
                enlarge(features[some], height, width).flatten(2),
                probe.labels[some].flatten(2),
                probe.positions[some],
            )

    def _table(self) -> SurveyTable:
        ids, concepts = self.ground.data.samples.ids, self.probes.concepts
        counts = {name: array.cpu().numpy() for name, array in self.tally.arrays().items()}
        thresholds = self.thresholds.cpu().numpy()
        pictures = draw_units(self.probes, self.features, thresholds, counts)
        images, pixels = map(int, counts["totals"])
        shared: dict[str, Any] = {"layer": self.layer.name, "images": images, "pixels": pixels}
        rows = [
            {
                "unit": unit,
                "threshold": float(thresholds[unit]),
                "activation": int(counts["activation"][unit]),
                "intersect": counts["intersect"][unit, 1:].tolist(),
                "tops": [ids[position] for position in counts["positions"][unit] if position >= 0],
                "pictures": pictures.get(unit),
                **shared,
            }
            for unit in range(len(thresholds))
        ]
        things = {
            "concept": [concept.name for concept in concepts],
            "category": [concept.category for concept in concepts],
            "truth": counts["truth"][1:].tolist(),
        }
        return SurveyTable(rows, things)


def read_features(reader: Callable[[Tensor], Tensor], images: Tensor, model: str, layer: str) -> Tensor:
    """The features of some images; a model that fails, or that has no numbers there, is named."""
    try:
        features = reader(images)
    except UserError:
        raise
    except Exception as error:  # whatever a user's model raises
        raise UserError(f"model '{model}' fails on {len(images)} images: {describe_error(error)}") from error
    if not bool(features.isfinite().all()):
        raise UserError(f"model '{model}' has values at layer '{layer}' that are no numbers; check its weights")
    return features


def iou_of(table: SurveyTable) -> np.ndarray:
    """IoU [units, concepts] of what a dissection counted."""
    intersect = np.array([row["intersect"] for row in table.rows]).reshape(
        len(table.rows), len(table.things["concept"])
    )
    return concept_iou(intersect, [row["activation"] for row in table.rows], table.things["truth"])
