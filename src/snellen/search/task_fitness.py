"""The fitness of a model on data, whatever its task: what a search needs, from texts or objects, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from snellen.data import as_data
from snellen.data.dataset import Dataset, limited
from snellen.distort import View
from snellen.engine.requests.cell import canvas_for
from snellen.engine.settings import Settings
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models import as_model, from_callable, from_torch, load_model
from snellen.models.card import Task
from snellen.models.labels import match_classes
from snellen.models.model import Model
from snellen.models.subject import Subject
from snellen.search.image_fitness import ImageFitness, Score
from snellen.search.pictures import Pictures, put_on_canvas
from snellen.search.scores import PixelAccuracy, correct, finds, pixel_accuracy

METRICS: dict[Task, tuple[str, ...]] = {  # the first is the one of Volpi & Murino (2019)
    "classification": ("accuracy",),
    "segmentation": ("pixel_accuracy", "pixel_accuracy_per_image"),
    "detection": ("found", "any"),
}


def fitness_of(
    model: Any,
    data: str | Dataset,
    task: Task | None = None,
    metric: str | Score | None = None,
    limit: int | None = None,
    batch: int | None = None,
) -> ImageFitness:
    """How well a model does on data under edits, from 0 to 1: what `Search.run` minimises.

    `model` is a text, a model, a torch module or any callable (then `task` says what it answers; see `from_callable`); `data` a
    text or a dataset, of which `limit` images are shown, `batch` at once. The metric follows from the task: `accuracy` for
    classification; `pixel_accuracy` over all labelled pixels for segmentation, or `pixel_accuracy_per_image`, its mean over
    images; for detection `found`, where a box matches a true one by an IoU of 0.5, or, where the data have no boxes, `any`
    detection. A function of images and rows (see `Score`) may stand in its place.

    >>> from snellen.search import fitness_of
    >>> right = fitness_of("observer:shape", "phantom:test?size=32&n=24")
    >>> right(()), right(("shuffle(4)",))  # clean, shuffled
    (1.0, 0.08333333333333333)
    """
    subject = _model(model, task)
    dataset = limited(as_data(data), limit)
    canvas = canvas_for(Subject(subject.name, subject.name, subject.card), dataset)
    _check_facts(dataset, subject.card.task, metric)
    device = subject.device or torch.device("cpu")
    pictures = put_on_canvas(dataset, canvas)
    notices = list(subject.card.notices)
    if metric is None or isinstance(metric, str):
        score = _score(subject, dataset, pictures, metric, notices)
    else:
        score = metric
    view = View(
        dataset.samples.keys,
        device=device,
        labels=dataset.samples.labels,
        masks=None if pictures.masks is None else pictures.masks.to(device),
        boxes=pictures.boxes,
        mean=subject.card.fill,
    )
    size = batch or Settings(device=str(device)).batch_for(canvas)
    pooled = isinstance(score, PixelAccuracy) and metric != "pixel_accuracy_per_image"
    weights = score.weights.to(device) if isinstance(score, PixelAccuracy) and pooled else None
    return ImageFitness(pictures.images.to(device), score, view, size, weights=weights, notices=tuple(notices))


def _model(model: Any, task: Task | None) -> Model:
    """The model that is meant, of the task that is meant."""
    if isinstance(model, str):
        subject = load_model(model)
    elif task is not None and isinstance(model, torch.nn.Module):
        subject = from_torch(model, task=task) if task == "segmentation" else as_model(model)
    elif task is not None and callable(model) and not isinstance(model, Model):
        subject = from_callable(model, task=task)
    else:
        subject = as_model(model)
    if task not in (None, subject.card.task):
        raise UserError(
            f"model '{subject.name}' is for {subject.card.task}, not for {task}; make it with task={task!r}"
        )
    if not subject.card.live:
        raise UserError(f"model '{subject.name}' holds recorded answers; a search shows images that it never saw")
    return subject


def _check_facts(data: Dataset, task: Task, metric: str | Score | None) -> None:
    """Refuse a metric that the task does not have, or whose truth the data do not know."""
    if not (metric is None or isinstance(metric, str)):
        return
    if metric not in (None, *METRICS[task]):
        raise UserError(f"unknown metric '{metric}' for {task}; known: {', '.join(METRICS[task])}")
    if task == "classification":
        _check_complete(data, data.samples.labels >= 0, "label", "add labels")
    if task == "segmentation" and "labels" not in data.facts:
        raise UserError(
            f"{data.text} has no label maps, which {METRICS[task][0]} needs; give data with a class per pixel"
        )


def _check_complete(data: Dataset, known: Sequence[bool] | np.ndarray, what: str, advice: str) -> None:
    missing = np.flatnonzero(~np.asarray(known, bool))
    if len(missing):
        first = data.samples.ids[missing[0]]
        raise UserError(
            f"{data.text}: {len(missing)} of {len(data)} images have no {what}, the first is '{first}'; {advice} or leave "
            "them out"
        )


def _score(model: Model, data: Dataset, pictures: Pictures, metric: str | None, notices: list[str]) -> Score:
    """The score that the model's task asks for; what is to be said of its classes goes into `notices`."""
    if model.card.task == "detection":
        if metric == "any" or (metric is None and pictures.boxes is None):
            return finds(model)
        if pictures.boxes is None:
            raise UserError(
                f"{data.text} has no boxes, which metric 'found' needs; give data with boxes, or metric 'any'"
            )
        _check_complete(data, [len(some) > 0 for some in pictures.boxes], "box", "add boxes")
        return finds(model, pictures.boxes)
    label_map, warnings = match_classes(model.classes, data.classes, model.name)
    notices += warnings
    if model.card.task == "classification":
        return correct(model, data.samples.labels, label_map)
    assert pictures.label_maps is not None
    labelled = (pictures.label_maps >= 0).flatten(1).any(1).tolist()
    _check_complete(data, labelled, "labelled pixel on the canvas", "label them")
    return pixel_accuracy(model, pictures.label_maps.to(model.device or "cpu"), label_map=label_map)
