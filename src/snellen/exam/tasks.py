"""Models of other tasks than classification: what they need of data and audits, refused in one line before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from snellen.audits import AUDITS, Audit
from snellen.data import Dataset
from snellen.errors import UserError
from snellen.exam.request import AuditRequest
from snellen.models.card import Task
from snellen.models.subject import Subject


def task_of(subjects: Sequence[Subject]) -> Task:
    """What all models are for; those of one run must be for the same, since a score is one of their task."""
    first = subjects[0]
    for subject in subjects:
        if subject.card.task != first.card.task:
            raise UserError(
                f"model '{first.name}' is for {first.card.task}, '{subject.name}' for {subject.card.task}, and their numbers "
                "cannot be compared; audit them one after the other"
            )
    return first.card.task


def check_audits(audits: Sequence[Audit], subjects: Sequence[Subject]) -> None:
    """Refuse audits that do not ask models of this task."""
    task = task_of(subjects)
    for audit in audits:
        if task not in audit.tasks:
            name = str(audit).partition("(")[0]
            able = [word for word, kind in AUDITS.items() if task in kind.tasks]
            raise UserError(
                f"the audit '{name}' asks for the class of an image, and model '{subjects[0].name}' is for "
                f"{task}; audits of such models: {', '.join(able)}"
            )


def check_truth(data: Mapping[str, Dataset], task: Task) -> None:
    """Refuse data of which nothing is known that an answer could be compared with."""
    for dataset in data.values():
        if task == "classification" and not (dataset.samples.labels >= 0).any():
            raise UserError(f"no image of {dataset.text} has a label, so no answer can be right or wrong; add labels")
        if task == "segmentation" and "labels" not in dataset.facts:
            raise UserError(
                f"{dataset.text} has no label maps, which a model for segmentation is compared with; give data with a class "
                "per pixel, for example pairs:IMAGES,LABELS"
            )


def check_settings(request: AuditRequest, task: Task) -> None:
    """Refuse settings that are about the classes of images."""
    if task != "classification" and request.keep is not None:
        raise UserError(
            f"--keep {request.keep} stores answers of classifiers, and the models are for {task}; leave it out"
        )
    if task == "detection" and request.labels is not None:
        raise UserError("--labels maps classes, and a detector answers boxes; leave it out")


def notices_of(data: Mapping[str, Dataset], task: Task) -> list[str]:
    """What a user should know of how answers are compared."""
    return [
        f"{dataset.text} has no boxes, so an image counts as right wherever anything is detected"
        for dataset in data.values()
        if task == "detection" and "boxes" not in dataset.facts
    ]
