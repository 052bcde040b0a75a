"""Build a human testing subset from images with levels of occlusion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from snellen.build.clarity import BLURRED, SMALL, Clarity
from snellen.build.class_folders import class_folders
from snellen.build.destination import Destination
from snellen.build.encode import table
from snellen.build.hts.calibration import BoundsTrial, choose_bounds, correct_answers, try_bounds
from snellen.build.hts.choosing import HtsCell, check_bands, choose, lacking, levels_of
from snellen.build.hts.measuring import ClarityTask, ClarityVerdict, clarity_content, measure_portion
from snellen.build.hts.request import HtsRequest
from snellen.build.hts.writing import write_set
from snellen.build.runner import Amount, Builder, Built, Portion, Site, not_taken, reasons_of
from snellen.data import as_data
from snellen.data.dataset import limited
from snellen.errors import UserError, option
from snellen.files import expand_home
from snellen.hashing import file_sha256
from snellen.models import subjects_of

CALIBRATION = "calibration.csv"
PORTION = 16  # images


@dataclass(frozen=True)
class HtsBuilt(Built):
    """A subset: its folder, its images by class, the bounds that they passed, what was not taken by reason, what to look at.

    `accuracy` is that of the models by which the bounds were chosen, at level 0; nan where they were given.
    """

    images: Mapping[str, Amount]
    min_pixels: float
    min_sharpness: float
    accuracy: float
    rejected: Mapping[str, Amount]
    warnings: Sequence[str]

    @property
    def lines(self) -> list[str]:
        accuracy = "" if np.isnan(self.accuracy) else f", {self.accuracy:.1%} right at level 0"
        return [
            f"{sum(self.images.values()):,} images in {len(self.images)} classes: {self.out}",
            f"more than {self.min_pixels:,.0f} pixels, sharpness above {self.min_sharpness:g}{accuracy}",
            not_taken(self.rejected, self.out / "rejected.csv"),
        ]


class HtsSet(Builder[HtsBuilt]):
    """Clear images of a dataset: the images and their levels."""

    facts_file = "hts.json"
    inputs = ("data_fingerprint", "models", "labels_sha256")
    built = HtsBuilt

    def __init__(self, request: HtsRequest) -> None:
        self.request: HtsRequest = request
        assert request.data is not None
        self.data = limited(as_data(request.data), request.limit)
        self.levels = levels_of(self.data, request)
        if request.bands:
            check_bands(self.data)
        class_folders(self.data.classes)  # two that would have the same names of files are refused
        self.facts = {
            "schema": "snellen/hts/1",
            "data": self.data.text,
            "data_fingerprint": self.data.fingerprint,
            "limit": request.limit,
            **{name: value for name, value in request.choices().items() if name != "bands" or value},
            "models": [subject.card.fingerprint for text in request.calibrate for subject in subjects_of(text)],
            "labels_sha256": None if request.labels is None else file_sha256(expand_home(request.labels)),
        }

    def make(self, site: Site) -> Mapping[str, Any]:
        work = partial(measure_portion, self.request)
        verdicts = site.rows(self._portions(), work, ClarityVerdict, clarity_content, self._with_photos)
        verdicts.sort(key=lambda verdict: verdict.row)
        clarity, accuracy, warnings = self._bounds(site.to, verdicts)
        choices = choose(self.data, verdicts, self.levels, clarity, self.request)
        if not any(choice.number for choice in choices):
            reasons = dict(Counter(choice.reason for choice in choices).most_common())
            bounds = f"{option('min_pixels')} ({clarity.pixels:g}) or {option('min_sharpness')} ({clarity.sharpness:g})"
            advice = f"; lower {bounds}" if {SMALL, BLURRED} & reasons.keys() else ""
            raise UserError(f"no image is left: {reasons_of(reasons)}{advice}")
        write_set(site.to, self.data, choices)
        few = lacking(choices, self.data.classes, self.request)
        if few:
            listed = ", ".join(f"{_cell_words(cell)} ({count})" for cell, count in list(few.items())[:20])
            warnings.append(f"fewer than {self.request.per} clear images of {listed}")
        own = Counter(choice.category for choice in choices if choice.number)
        return {
            "images": {name: own[name] for name in self.data.classes},
            "min_pixels": clarity.pixels,
            "min_sharpness": clarity.sharpness,
            "accuracy": accuracy,
            "rejected": dict(sorted(Counter(choice.reason for choice in choices if choice.reason).items())),
            "warnings": [*self.data.notices, *warnings],
        }

    def _portions(self) -> list[Portion[ClarityTask]]:
        """All images, a few at a time, not yet read."""
        starts = range(0, len(self.data), PORTION)
        rows = [range(start, min(start + PORTION, len(self.data))) for start in starts]
        return [Portion(number, [ClarityTask(row) for row in some]) for number, some in enumerate(rows)]

    def _with_photos(self, portion: Portion[ClarityTask]) -> Portion[ClarityTask]:
        """The portion with its photos, read now."""
        rows = [task.row for task in portion.tasks]
        return Portion(portion.number, [ClarityTask(row, photo) for row, photo in zip(rows, self.data.read(rows))])

    def _bounds(self, to: Destination, verdicts: Sequence[ClarityVerdict]) -> tuple[Clarity, float | None, list[str]]:
        """How clear an image must be: as the settings say, or as the models' answers do, with their accuracy and what to tell."""
        if not self.request.calibrate:
            return self.request.clarity, None, []
        labels = self.data.samples.labels
        clear = [
            verdict
            for verdict in verdicts
            if self.levels[verdict.row] == 0 and not verdict.reason and labels[verdict.row] >= 0
        ]
        if not clear:
            raise UserError(f"{self.data.text} has no image of level 0 to calibrate with")
        correct, notices = correct_answers(self.data, [verdict.row for verdict in clear], self.request)
        pixels, sharpness = (
            np.array([getattr(verdict, name) for verdict in clear], float) for name in ("pixels", "sharpness")
        )
        trials = try_bounds(pixels, sharpness, correct)
        rows = ({**asdict(trial), "accuracy": f"{trial.accuracy:.6f}".replace("nan", "")} for trial in trials)
        to.write(CALIBRATION, table(tuple(BoundsTrial.__annotations__), rows))
        clarity = choose_bounds(trials, self.request.target)
        best = next(
            trial for trial in trials if (trial.min_pixels, trial.min_sharpness) == (clarity.pixels, clarity.sharpness)
        )
        return clarity, round(best.accuracy, 6), notices


def _cell_words(cell: HtsCell) -> str:
    """A class at a level, or behind an occluder that hides so much."""
    name, kind, place = cell
    return f"{name} behind {kind}, {place}" if kind else f"{name} at level {place}"
