"""Asking one point of a sweep about test after test: its networks are hashed and loaded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from snellen.audits import CleanAudit
from snellen.data.dataset import Dataset
from snellen.engine import RunProgress
from snellen.errors import UserError
from snellen.exam.carry_out import Execution, carry_out
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.exam.run import Run
from snellen.files import expand_home
from snellen.models.checkpoint import read_card
from snellen.models.model import Model
from snellen.models.subject import Subject, subjects_of
from snellen.models.text import parse_text


@dataclass
class Asking:
    """The model of a point, as texts of its runs, ready to be asked; `loaded` are its networks by fingerprint and device."""

    name: str
    models: Sequence[str]
    device: str | None = None
    labels: Path | None = None
    loaded: dict[tuple[str, str], Model] = field(default_factory=dict, repr=False)

    def about(self, data: Dataset, folder: Path) -> Run:
        """The run of an audit of nothing but the images as they are, new or as far as it is there.

        The noise that is the yardstick of interference is not asked: no number of a sweep's table needs it. Warnings are
        stored, not printed: a sweep is meant to show networks failing on data other than their own.
        """
        models = tuple(f"{self.name}={model}" for model in self.models)
        prepared = prepare(
            AuditRequest(
                models=models, data=data, audits=(CleanAudit(),), out=folder, labels=self.labels, device=self.device
            )
        )  # fmt: skip
        if prepared.exam.task != "classification":
            raise UserError(
                f"model '{self.name}' is for {prepared.exam.task}, and a sweep asks for the class of an image; search for what "
                "breaks it: snellen search"
            )
        device = prepared.inputs.settings.device  # a run that was begun elsewhere stays there
        subjects = prepared.inputs.subjects
        for subject in subjects:
            subject.loaded = subject.loaded or self.loaded.get((subject.card.fingerprint, device))
        look = not all(trained_here(subject) for subject in subjects)
        run = carry_out(prepared, RunProgress(quiet=True), Execution(report=False, first_look=look))
        networks = {(subject.card.fingerprint, device): subject.loaded for subject in subjects}
        self.loaded |= {key: model for key, model in networks.items() if model is not None}
        return run


def fingerprints(name: str, models: Sequence[str]) -> list[str]:
    """Those of a point's runs, in order."""
    return [subject.card.fingerprint for model in models for subject in subjects_of(f"{name}={model}")]


def trained_here(subject: Subject) -> bool:
    """Whether our own training wrote a checkpoint, so that its card states the preprocessing it was trained with."""
    text = parse_text(subject.card.text)
    if text.kind != "zoo" or text.argument is None:
        return False
    return {"snellen", "recipe", "mean", "std"} <= read_card(expand_home(text.argument)).keys()
