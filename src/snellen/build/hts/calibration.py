"""Bounds on size and sharpness under which good models know the images that nothing hides (Kassaw et al. 2024, section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from snellen.build.clarity import Clarity
from snellen.build.hts.request import HtsRequest
from snellen.data.canvas import Canvas, Unshowable, render
from snellen.data.dataset import Dataset, Photo
from snellen.errors import UserError, choice, option
from snellen.files import expand_home
from snellen.lazy_torch import torch
from snellen.models import Model, load_model
from snellen.models.adapters.predictions import recorded_answers
from snellen.models.label_file import read_label_map
from snellen.models.labels import LabelMap, match_classes

STEPS = 20  # bounds that are tried on either scale: none, and the quantiles in steps of 5%
FEWEST = 10  # images on which an accuracy may rest
BATCH = 64


@dataclass(frozen=True)
class BoundsTrial:
    """Bounds that were tried: how many images of level 0 pass them, and the models' mean accuracy on these."""

    min_pixels: float
    min_sharpness: float
    images: int
    accuracy: float


def try_bounds(pixels: np.ndarray, sharpness: np.ndarray, correct: np.ndarray) -> list[BoundsTrial]:
    """Every pair of bounds, none and quantiles of either scale; `correct` is bool [models, images]."""
    trials = []
    scores = correct.mean(0)
    for least in _steps(pixels, 0):
        large = pixels > least if least else np.ones(len(pixels), bool)
        for sharp in _steps(sharpness, 2):
            passing = large & (sharpness > sharp) if sharp else large
            count = int(passing.sum())
            trials.append(BoundsTrial(least, sharp, count, float(scores[passing].mean()) if count else float("nan")))
    return trials


def choose_bounds(trials: Sequence[BoundsTrial], target: float) -> Clarity:
    """The bounds that keep most images among those that reach the target; of equals the lowest."""
    enough = [trial for trial in trials if trial.images >= FEWEST]
    if not enough:
        raise UserError(f"expected at least {FEWEST} clear images of level 0 to calibrate with, got fewer")
    reaching = [trial for trial in enough if trial.accuracy >= target]
    if not reaching:
        best = max(enough, key=lambda trial: (trial.accuracy, trial.images))
        raise UserError(
            f"no bounds give an accuracy of {target:.1%} at level 0: the best is {best.accuracy:.1%} on {best.images:,} images, "
            f"with {choice('min_pixels', best.min_pixels)} and {choice('min_sharpness', best.min_sharpness)}; "
            f"lower {option('target')} or give better models"
        )
    best = min(reaching, key=lambda trial: (-trial.images, trial.min_pixels, trial.min_sharpness))
    return Clarity(best.min_pixels, best.min_sharpness)


def correct_answers(data: Dataset, rows: Sequence[int], request: HtsRequest) -> tuple[np.ndarray, list[str]]:
    """bool [models, images]: which of the images at these positions each model knows; and what to tell of its classes."""
    answers, notices = [], []
    for text in request.calibrate:
        model = load_model(text)
        if model.card.task != "classification":
            raise UserError(f"expected a classifier for --calibrate, got '{text}', a model for {model.card.task}")
        if model.recorded is not None:
            ids = [data.samples.ids[row] for row in rows]
            answers.append(recorded_answers(model, "none()", 0, ids, data.classes)["pred"].to_numpy())
            continue
        if request.labels is not None:
            label_map = read_label_map(expand_home(request.labels), model.classes, data.classes)
        else:
            label_map, warnings = match_classes(model.classes, data.classes, model.name)
            notices += warnings
        answers.append(_ask(model, label_map, data, rows))
    return np.stack(answers) == data.samples.labels[list(rows)], notices


def _ask(model: Model, label_map: LabelMap, data: Dataset, rows: Sequence[int]) -> np.ndarray:
    """int64 [images]: the classes that a model answers, −1 where an image cannot be shown to it."""
    canvas = model.canvas
    if canvas is None:
        if data.size is None:
            raise UserError(
                f"model '{model.name}' takes images of any size, those of {data.text} differ; give one with a size of its own"
            )
        canvas = Canvas(*data.size, "native")
    answers = np.full(len(rows), -1, np.int64)
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        pictures, places = [], []
        for place, photo in enumerate(data.read(part), start):
            try:
                if isinstance(photo, Photo):
                    pictures.append(torch.from_numpy(render(photo, canvas).image))
                    places.append(place)
            except Unshowable:
                continue
        if pictures:
            probabilities = model(torch.stack(pictures))
            labels = torch.zeros(len(pictures), dtype=torch.int64, device=probabilities.device)
            answers[places] = label_map.read(probabilities, labels).pred.cpu().numpy()
    return answers


def _steps(values: np.ndarray, digits: int) -> list[float]:
    """None (0), and quantiles, rounded down to so many digits; each once."""
    quantiles = np.quantile(values, np.arange(1, STEPS) / STEPS) if len(values) else np.zeros(0)
    return [0.0, *sorted({float(bound) for bound in np.floor(quantiles * 10**digits) / 10**digits} - {0.0})]
