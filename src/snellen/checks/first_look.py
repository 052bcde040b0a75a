"""The first look at one model: what a few unmodified images tell of it before an audit spends its forward passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.checks.answers import not_probabilities
from snellen.checks.clean_answers import CHECKS
from snellen.checks.doubt import FEWEST, CleanAnswers, Doubt
from snellen.checks.preprocessing import preprocessing
from snellen.data.dataset import Dataset
from snellen.data.keys import sample_keys
from snellen.distort import Nothing
from snellen.engine.ask.slides import slides
from snellen.engine.keep.failures import nan_error
from snellen.engine.requests.cell import canvas_for
from snellen.engine.settings import Settings
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.labels import AnswerReading, LabelMap
from snellen.models.model import Model
from snellen.models.subject import Subject

if TYPE_CHECKING:
    from torch import Tensor

FIRST = 64  # images whose clean answers are checked
MOST = 256  # images on which two ways of preprocessing are compared
BATCH = 32  # images asked at once: little enough for any device


@dataclass(frozen=True)
class Shown:
    """Some labelled images on a model's canvas, uint8 [n, 3, H, W], with ids, labels and, where they have them, groups."""

    ids: tuple[str, ...]
    images: Tensor
    labels: Tensor
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class Look:
    """The first images, the `rest`, which is read where those leave a doubt; how to ask about them, and how answers [n,
    outputs] are read."""

    first: Shown
    rest: Callable[[], Shown]
    answer: Callable[[Tensor], Tensor]
    read: Callable[[Tensor, Tensor], AnswerReading]

    def right(self, pixels: Tensor, labels: Tensor) -> np.ndarray:
        """0/1 for each of some images, prepared as `pixels`."""
        return (self.read(self.answer(pixels), labels).pred == labels).numpy().astype(np.float64)


def look_at_model(
    subject: Subject, data: Dataset, labels: LabelMap, settings: Settings, networks_only: bool = False
) -> list[Doubt]:
    """What up to 64 clean answers, and for a network that takes them other ways of preprocessing, make doubtful.

    There are none about recorded answers, which are checked whole, nor where there are fewer than 30 labelled images (one of
    them tells whether the number of classes fits), nor about models that are no torch networks if `networks_only`. A model that
    fails here fails in the run, where its failures are listed.
    """
    model = subject.model(settings.device)
    if not model.card.live or (networks_only and not model.card.gradients):
        return []
    try:
        look = _look(subject, data, labels, settings)
        if len(look.first.ids) < FEWEST:
            if look.first.ids:
                look.read(_clean_answers(model, look.first, labels, 1), look.first.labels)
            return []
        most = min(BATCH, settings.batch_for(canvas_for(subject, data)))
        answers = _clean_answers(model, look.first, labels, most)
        first = look.read(answers, look.first.labels)
        if not model.card.unsure and not first.confidence.isfinite().all():
            row = int((~first.confidence.isfinite()).nonzero()[0])
            raise nan_error(subject.name, look.first.ids[row], Nothing(), float(first.confidence[row]))
        clean = CleanAnswers(
            who=f"'{subject.name}'" if subject.run == subject.name else f"'{subject.name}' ({subject.run})",
            model=subject.name,
            pred=first.pred.numpy(),
            labels=look.first.labels.numpy(),
            confidence=first.confidence.float().numpy(),
            classes=data.classes,
            stated=subject.card.stated,
            groups=look.first.groups,
            chance=subject.card.chance,
        )
        misfit = preprocessing(subject.name, model, look, clean.correct) if model.floats else None
    except UserError:
        raise
    except Exception:  # whatever a user's model raises
        return []
    early = [misfit, None if model.card.unsure else not_probabilities(subject.name, answers.float().numpy())]
    return [doubt for doubt in early if doubt] + [doubt for check in CHECKS if (doubt := check(clean))]


def _look(subject: Subject, data: Dataset, labels: LabelMap, settings: Settings) -> Look:
    model, canvas = subject.model(settings.device), canvas_for(subject, data)
    labelled = data.at(np.flatnonzero(data.samples.labels >= 0)) if (data.samples.labels < 0).any() else data
    few = len(labelled) < FEWEST
    labelled = labelled if len(labelled) else data
    # A listing is often sorted by class: the first 64 of these images must not be of one class only.
    order = labelled.samples.hash_order

    def shown(rows: np.ndarray) -> Shown:
        dataset = labelled.at(rows)
        (slide,) = slides(dataset, [range(len(dataset))], [canvas], settings.decoders)
        readable = np.flatnonzero([not error for error in slide.errors])
        samples = dataset.samples.take(readable)
        groups = samples.columns.get("group")
        return Shown(
            samples.ids,
            slide.images[canvas][readable],
            torch.from_numpy(samples.labels),
            None if groups is None else np.asarray(groups),
        )

    def answer(pixels: Tensor) -> Tensor:
        return torch.cat([model(some).cpu() for some in pixels.split(min(BATCH, settings.batch_for(canvas)))])

    first = shown(order[: 1 if few else FIRST])
    return Look(first, lambda: shown(order[FIRST:MOST]), answer, labels.read)


def _clean_answers(model: Model, shown: Shown, labels: LabelMap, most: int) -> Tensor:
    """The answers to some images as they are, by a model that is told which these are."""
    keys = sample_keys(shown.ids)
    parts: list[Tensor] = []
    for start in range(0, len(shown.ids), most):
        some = slice(start, start + most)
        parts.append(model.about(keys[some], shown.labels[some].numpy(), labels)(shown.images[some]).cpu())
    return torch.cat(parts)
