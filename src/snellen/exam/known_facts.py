"""What audits may know of a run before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from snellen.audits import Audit, Exam
from snellen.audits.exam import ChatModel
from snellen.data import Dataset
from snellen.data.occluders import Occluders
from snellen.data.people import PeopleAnswers, read_people
from snellen.data.subset import read_ids
from snellen.engine.requests.cell import canvas_for
from snellen.exam.load_inputs import Labels, RunData
from snellen.exam.request import AuditRequest
from snellen.exam.tasks import task_of
from snellen.hashing import key_of
from snellen.models.chat.settings import parse_chat
from snellen.models.subject import Subject
from snellen.models.text_answers import STATES


def make_exam(
    request: AuditRequest,
    audits: Sequence[Audit],
    subjects: Sequence[Subject],
    run_data: RunData,
    labels: Labels,
    occluders: Occluders | None,
) -> Exam:
    """What the request, the data and the models' cards tell; files that audits name are read."""
    data, test = run_data.every, run_data.main["test"]
    canvases = dict.fromkeys(canvas_for(subject, dataset) for subject in subjects for dataset in data.values())
    reaches = [] if occluders is None else [occluders.reach(canvas.height, canvas.width) for canvas in canvases]
    return Exam(
        classes={on: dataset.classes for on, dataset in run_data.main.items()},
        side=min(min(canvas.height, canvas.width) for canvas in canvases),
        seed=request.seed,
        donors=request.donors is not None,
        samples={on: dataset.samples for on, dataset in data.items()},
        losses=_losses(subjects),
        cutouts=min(reaches, default=0.0),
        facts={on: dataset.facts for on, dataset in data.items()},
        variants=frozenset({*run_data.variants, *run_data.parts}),
        parts=frozenset(run_data.parts),
        texts={on: dataset.text for on, dataset in data.items()},
        lists=_lists(audits, data, request.limit is not None),
        responses=_responses(audits, subjects),
        tree=test.tree or {},
        lost={subject.name: labels[subject.name, subject.run, "test"].lost(test.classes) for subject in subjects},
        chats=chat_models(subjects),
        task=task_of(subjects),
        repeated=frozenset() if task_of(subjects) != "classification" else _repeated(subjects),
    )


def chat_models(subjects: Sequence[Subject]) -> dict[str, ChatModel]:
    """The models of a run that are asked at a chat endpoint."""
    chats = {}
    for subject in subjects:
        kind, _, place = subject.card.text.partition(":")
        if kind == "chat" and subject.card.classes is not None:
            address, settings = parse_chat(place)
            states = {number: name for number, name in enumerate(subject.card.classes) if name in STATES}
            options = [settings.options, str(settings.distractors)]
            same = key_of(
                [address.url, replace(settings, protocol="closed").facts, list(subject.card.classes), options]
            )
            chats[subject.name] = ChatModel(
                states, settings.protocol, settings.order, same, settings.called, subject.card.chance
            )
    return chats


def _repeated(subjects: Sequence[Subject]) -> frozenset[str]:
    """The models whose runs are one service, asked several times."""
    services: dict[str, list[str]] = {}
    for subject in subjects:
        services.setdefault(subject.name, []).append(subject.card.service)
    return frozenset(name for name, runs in services.items() if len(runs) > 1 and runs[0] and len(set(runs)) == 1)


def _losses(subjects: Sequence[Subject]) -> dict[str, list[Mapping[str, float]]]:
    """The last epoch's training losses of each model's runs."""
    losses: dict[str, list[Mapping[str, float]]] = {}
    for subject in subjects:
        losses.setdefault(subject.name, []).append(subject.card.losses or {})
    return losses


def _lists(
    audits: Sequence[Audit], data: Mapping[str, Dataset], limited: bool
) -> dict[tuple[str, str], frozenset[str]]:
    """The sample ids that audits name by file; those of data that were not given are not needed."""
    pairs = dict.fromkeys(pair for audit in audits for pair in audit.lists())
    return {(on, file): read_ids(data[on], file, limited) for on, file in pairs if on in data}


def _responses(audits: Sequence[Audit], subjects: Sequence[Subject]) -> dict[str, PeopleAnswers]:
    """The answers of people in the files that audits name."""
    models = {subject.name for subject in subjects}
    return {file: read_people(file) for audit in audits for file in audit.responses() if file not in models}
