"""What a request names, loaded: datasets by role, the runs of models, how their classes become the data's, and pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from snellen.audits import Audit, Exam
from snellen.data import Dataset, as_data, limited
from snellen.data.occluders import Occluders, read_occluders
from snellen.data.variants import stored_variants
from snellen.distort.distortion import Stimulus
from snellen.engine import Cell, MapRequest
from snellen.engine.ask.watchdog import watch
from snellen.errors import UserError
from snellen.exam.request import AuditRequest, DataLike, NamedModel, OccludersLike
from snellen.models.label_file import read_label_map
from snellen.models.labels import LabelMap, match_classes
from snellen.models.subject import Subject, subjects_of

Labels = dict[tuple[str, str, str], LabelMap]  # by model, run and role


@dataclass(frozen=True)
class RunData:
    """The datasets of a run by role: the `main` ones (test, and train where there is one), stored `variants` of the test
    images that audits ask for, and `parts` of these."""

    main: Mapping[str, Dataset]
    variants: Mapping[str, Dataset]
    parts: Mapping[str, Dataset]

    @property
    def every(self) -> dict[str, Dataset]:
        """All of them by role."""
        return {**self.main, **self.variants, **self.parts}


def load_main(request: AuditRequest) -> dict[str, Dataset]:
    """The test data, and the training data where there are any, which must be others."""
    data = {"test": limited(as_data(request.data), request.limit)}
    if request.train is None:
        return data
    data["train"] = limited(as_data(request.train), request.limit)
    if data["train"].fingerprint == data["test"].fingerprint:  # equal questions merge, and there is nothing to compare
        raise UserError(
            f"the training data {data['train'].text} are the test data, image for image, so there is no gap to look at; "
            "pass --train the images that the model was trained on"
        )
    return data


def add_stored(main: Mapping[str, Dataset], audits: Sequence[Audit]) -> RunData:
    """The data with the stored variants and the parts of the test images that audits ask about."""
    variants = stored_variants(main["test"], [kind for audit in audits for kind in audit.variants])
    parts = {on: part for audit in audits for on, part in audit.parts(main["test"]).items()}
    return RunData(main, variants, parts)


def load_subjects(request: AuditRequest, device: str, classes: Sequence[str]) -> list[Subject]:
    """The runs to ask, of anything `audit` takes for models; `classes` are those of the test data."""
    subjects: list[Subject] = []
    with watch(request.shard_timeout, "loading the models"):
        for model in request.models:
            if isinstance(model, str):
                subjects += subjects_of(model, device, classes)
            else:
                subjects.append(_own_subject(model, device, subjects))
        _check_distinct(subjects)
    return subjects


def _own_subject(source: object, device: str, before: Sequence[Subject]) -> Subject:
    """The run of a model that was made in Python; those of one name are numbered."""
    from snellen.models.model import as_model

    if not isinstance(source, NamedModel):
        model = as_model(source, device=device)
        return Subject(model.name, model.name, replace(model.card, name=model.name), model, by_text=False)
    model = as_model(source.model, device=device)
    number = sum(subject.name == source.name for subject in before)
    return Subject(source.name, f"{model.name}-{number}", replace(model.card, name=source.name), model, by_text=False)


def _check_distinct(subjects: Sequence[Subject]) -> None:
    """Refuse two models of one name, and one model under two names."""
    names: set[tuple[str, str]] = set()
    prints: dict[str, str] = {}
    for subject in subjects:
        if (subject.name, subject.run) in names:
            raise UserError(f"two models are called '{subject.name}'; name them, as in mine=timm:resnet18.a1_in1k")
        names.add((subject.name, subject.run))
        called = f"{subject.name} ({subject.run})"
        first = prints.setdefault(subject.card.fingerprint, called)
        if first != called:
            raise UserError(
                f"'{first}' and '{called}' are the same model (same weights and preprocessing); name it once"
            )


def match_labels(
    subjects: Sequence[Subject], data: Mapping[str, Dataset], file: Path | None
) -> tuple[Labels, list[str]]:
    """How each model's classes become the data's, as a `file` says or by their names, and what to warn of."""
    maps: Labels = {}
    notices: list[str] = []
    for subject in subjects:
        for on, dataset in data.items():
            where = subject.name, subject.run, on
            if subject.card.task == "detection":
                maps[where] = LabelMap(len(dataset.classes))  # it answers no classes
            elif file is not None:
                maps[where] = read_label_map(file, subject.card.classes, dataset.classes)
                notices += _left_out(file, maps[where], dataset)
            else:
                maps[where], warnings = match_classes(subject.card.classes, dataset.classes, subject.name)
                notices += warnings
    return maps, notices


def _left_out(file: Path, label_map: LabelMap, data: Dataset) -> list[str]:
    """What to tell where a label map has no output for some classes of the images."""
    shown = np.unique(data.samples.labels[data.samples.labels >= 0])
    lost = set(label_map.lost(data.classes))
    names = [data.classes[label] for label in shown if data.classes[label] in lost]
    if not names:
        return []
    few = ", ".join(names[:5])
    return [f"label map '{file}' leaves out {len(names)} of {len(shown)} classes of {data.text}, never right: {few}"]


def read_cutouts(source: OccludersLike | None) -> Occluders | None:
    """The pool of cut-outs: a folder's, one that was read already, or none."""
    return source if source is None or isinstance(source, Occluders) else read_occluders(source)


def donors_source(request: AuditRequest, audits: Sequence[Audit], exam: Exam) -> DataLike | None:
    """The donors that were given; else the test data, where only distortions need donors whose partners may be these."""
    if request.donors is not None:
        return request.donors
    pasting = [distortion for distortion in _distortions(audits, exam) if "donors" in distortion.needs]
    return request.data if pasting and all(distortion.own_data for distortion in pasting) else None


def load_donors(source: DataLike | None, audits: Sequence[Audit], exam: Exam) -> Dataset | None:
    """The donors, of whose objects something must be known where they are to lend backgrounds."""
    donors = None if source is None else as_data(source)
    if donors is None or donors.facts & {"masks", "boxes"}:
        return donors
    for distortion in _distortions(audits, exam):
        if distortion.donor_objects:
            raise UserError(
                f"{distortion} needs donors whose objects' boxes or masks are known, which {donors.text} does not have; "
                "give other --donors, for example voc:DIR"
            )
    return donors


def texts_of(request: AuditRequest, donors: DataLike | None, data: RunData) -> dict[str, str]:
    """By role, the data and pools that were given as text, so that machines of a cluster can load them themselves."""
    sources = {"test": request.data, "train": request.train, "donors": donors, "occluders": request.occluders}
    texts = {role: str(source) for role, source in sources.items() if isinstance(source, str | Path)}
    return texts | {role: variant.text for role, variant in data.variants.items()}


def _distortions(audits: Sequence[Audit], exam: Exam) -> list[Stimulus]:
    """Every distortion, trial and search that the audits need."""
    requests: list[Cell | MapRequest] = []
    for audit in audits:
        requests += [*audit.cells(exam), *audit.maps(exam), *audit.trials(exam), *audit.searches(exam)]
    return list(dict.fromkeys(request.distortion for request in requests))
