"""Matching a model's classes with a dataset's: `snellen.match(...)` and `snellen match` make a request of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from snellen.data import Dataset, as_data
from snellen.errors import UserError, option
from snellen.exam.class_look import look_at_classes
from snellen.exam.match_request import MatchRequest
from snellen.files import expand_home, read_json
from snellen.models.class_names import spelling
from snellen.models.class_proposal import ClassProposal, propose_classes
from snellen.models.model import as_model, probe_images
from snellen.models.subject import Subject, subjects_of
from snellen.offline import offline
from snellen.settings_file import door

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=10_000)]
Names = Name | int | Annotated[list[Name | int], msgspec.Meta(min_length=1, max_length=10_000)]


def match_requested(request: MatchRequest) -> ClassProposal:
    """Which outputs of a model are which of a dataset's classes: a `ClassProposal` to look at, correct and save.

    `classes` has of each of the data's classes its `outputs`, `how` they were matched and how `sure` that is; `left` and `unused`
    are what is left on both sides, `label_map` what an audit would read. `frame()` is a table, `save(path)` writes the label map.
    With `look` the model is asked about images, and notes say where it answers otherwise.

    >>> from snellen import match
    >>> proposal = match("observer:texture", "phantom:test?size=32&n=24")
    >>> len(proposal.left)
    0
    """
    data = as_data(request.data)
    if not data.classes:
        raise UserError(f"{data.text} names no classes to match")
    with offline(request.offline):
        subject = _subject(request, data)
        known = subject.card.classes
        outputs = len(known) if known is not None else _count_outputs(subject, data, request.device)
    stated = None if request.synonyms is None else read_stated(expand_home(request.synonyms), data.classes)
    matches, rule, notes = propose_classes(known, outputs, _images(data), stated)
    proposal = ClassProposal(
        subject.name,
        data.text,
        tuple(known) if known is not None else ("",) * outputs,
        tuple(matches),
        request.rule or rule,
        tuple(notes),
    )
    if request.look is not None:
        proposal = look_at_classes(proposal, subject, data, request.look, request.device)
    if request.out is not None:
        proposal.save(expand_home(request.out))
    return proposal


match = door(match_requested, MatchRequest, "model", "data", "out", name="match")


def _subject(request: MatchRequest, data: Dataset) -> Subject:
    """The model; of several runs the first, which has the same classes."""
    if isinstance(request.model, str):
        subject = subjects_of(request.model, request.device, data.classes)[0]
    else:
        model = as_model(request.model, device=request.device)
        subject = Subject(model.name, model.name, model.card, model, by_text=False)
    if subject.card.task == "detection":
        raise UserError(f"model '{subject.name}' is a detector: it answers boxes, not classes")
    return subject


def _count_outputs(subject: Subject, data: Dataset, device: str | None) -> int:
    """How many classes a model answers that names none: it is asked about one image."""
    if not subject.card.live or subject.card.task != "classification":
        raise UserError(
            f"model '{subject.name}' names no classes, and it cannot be asked how many it has; --labels maps numbers"
        )
    canvas = subject.card.canvas
    height, width = (canvas.height, canvas.width) if canvas else data.size or (224, 224)
    answers = subject.model(device)(probe_images((height, width))[:1])
    return int(answers.shape[1])


def _images(data: Dataset) -> dict[str, int]:
    """How many images each class has."""
    labels = data.samples.labels
    counts = np.bincount(labels[labels >= 0], minlength=len(data.classes))
    return dict(zip(data.classes, counts.tolist()))


def read_stated(file: Path, classes: Sequence[str]) -> dict[str, list[str]]:
    """What a file of synonyms calls some classes; it may name more than these, as ObjectNet's own does."""
    content: dict[str, Names] = read_json(file, dict[str, Names], "file of synonyms", unique=True)
    known = {spelling(name) for name in classes}
    if not any(spelling(name) in known for name in content):
        few = ", ".join(classes[:5])
        raise UserError(f"'{file}' names none of the data's {len(known)} classes: {few}; check {option('synonyms')}")
    return {name: _parts(words) for name, words in content.items()}


def _parts(words: Names) -> list[str]:
    """Names and numbers, of which a text may hold several with semicolons between."""
    texts = words if isinstance(words, list) else [words]
    return [part.strip() for text in texts for part in str(text).split(";") if part.strip()]
