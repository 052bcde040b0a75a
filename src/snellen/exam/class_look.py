"""A look at a match of classes: whether a model answers the outputs that were taken for a class when it sees its images."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from snellen.checks.classes import class_order
from snellen.checks.doubt import CleanAnswers
from snellen.data.dataset import Dataset
from snellen.engine.ask.slides import slides
from snellen.engine.requests.cell import canvas_for
from snellen.engine.settings import Settings
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.class_match import ClassMatch
from snellen.models.class_proposal import ClassProposal
from snellen.models.device import choose_device
from snellen.models.labels import AnswerReading
from snellen.models.subject import Subject

AT_ONCE = 64  # images in memory at a time
MOST_OF = 0.5  # share of a class's images beyond which one other answer is named
FEWEST_ALIKE = 2  # images of a class with that answer: one may be a mistake


def look_at_classes(
    proposal: ClassProposal, subject: Subject, data: Dataset, most: int, device: str | None
) -> ClassProposal:
    """The proposal with what the model answers to up to `most` images of each class.

    A class gets a note where more than half of its images, and at least two, are answered with one output that was not taken for
    it. If the answers to 30 images and more look like the classes in another order, that is a note on the whole.
    """
    if not subject.card.live or subject.card.task != "classification":
        raise UserError(f"model '{subject.name}' cannot be asked which class new images are of; leave --look out")
    rows = _first_rows(data, most)
    labels, reading = _answers(proposal, subject, data.at(rows), device)
    raw, pred = reading.raw.numpy(), reading.pred.numpy()
    classes = tuple(_noted(match, proposal, raw[labels == place]) for place, match in enumerate(proposal.classes))
    matched = np.isin(labels, [place for place, match in enumerate(classes) if match.outputs])
    right = int((pred == labels)[matched].sum())
    lines = [
        f"looked at {len(labels):,} images: of the {matched.sum():,} of matched classes {right:,} are classified correctly"
    ]
    clean = CleanAnswers(f"'{subject.name}'", subject.name, pred, labels, reading.confidence.numpy(), data.classes)
    doubt = class_order(clean) if len(labels) else None
    return replace(proposal, classes=classes, notes=(*proposal.notes, *lines, *([str(doubt)] if doubt else [])))


def _first_rows(data: Dataset, most: int) -> np.ndarray:
    """The first images of each class by a hash of their ids, in the order of the data."""
    order = data.samples.hash_order
    order = order[np.argsort(data.samples.labels[order], kind="stable")]  # class by class
    labels = data.samples.labels[order]
    place = np.arange(len(order)) - np.searchsorted(labels, labels)  # in its class
    return np.sort(order[(place < most) & (labels >= 0)])


def _answers(
    proposal: ClassProposal, subject: Subject, data: Dataset, device: str | None
) -> tuple[np.ndarray, AnswerReading]:
    """The labels of the images that can be read, and the model's answers to them."""
    settings = Settings(device=str(choose_device(device)))
    model, canvas = subject.model(device), canvas_for(subject, data)
    labels: list[torch.Tensor] = []
    readings: list[AnswerReading] = []
    for start in range(0, len(data), AT_ONCE):
        part = data.at(np.arange(start, min(start + AT_ONCE, len(data))))
        (slide,) = slides(part, [range(len(part))], [canvas], settings.decoders)
        readable = np.flatnonzero([not error for error in slide.errors])
        truth = torch.from_numpy(part.samples.labels[readable])
        if len(readable):
            pixels = slide.images[canvas][readable]
            answers: list[torch.Tensor] = []
            for some in pixels.split(settings.batch_for(canvas)):
                rows = readable[sum(map(len, answers)) :][: len(some)]
                samples = part.samples.take(rows)
                answers.append(model.about(samples.keys, samples.labels, proposal.label_map)(some).float().cpu())
            probabilities = torch.cat(answers)
            readings.append(proposal.label_map.read(probabilities, truth))
            labels.append(truth)
    if not readings:
        raise UserError(f"no image of {data.text} can be read, so there is nothing to look at")
    return torch.cat(labels).numpy(), AnswerReading(*map(torch.cat, zip(*readings)))


def _noted(match: ClassMatch, proposal: ClassProposal, raw: np.ndarray) -> ClassMatch:
    """A class with a note where most of its images, `raw` being the outputs answered to them, are taken for something else."""
    if not len(raw):
        return match
    answer, times = Counter(raw.tolist()).most_common(1)[0]
    if answer in match.outputs or times <= MOST_OF * len(raw) or times < FEWEST_ALIKE:
        return match
    says = f"the model says {proposal.called(answer)} on {times} of {len(raw)} images"
    return replace(match, note=f"{match.note}; {says}" if match.note else says)
