"""What a user should read before an audit begins: of models, labels, groups, pools and data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from snellen.audits import Audit, Exam
from snellen.checks.doubt import FEWEST, FEWEST_GROUPS
from snellen.data import Dataset
from snellen.distort import Distortion, saliency_of
from snellen.engine import Inputs
from snellen.exam.tasks import notices_of, task_of
from snellen.explain.methods import method_of
from snellen.explain.reference import few_images


def notices_before(inputs: Inputs, audits: Sequence[Audit], exam: Exam, warnings: Sequence[str]) -> list[str]:
    """Those of models' cards, `warnings` of how classes were matched, then of data, cut-outs, labels, groups and references."""
    task, occluders = task_of(inputs.subjects), inputs.pools.occluders
    notices = dict.fromkeys([*(notice for subject in inputs.subjects for notice in subject.card.notices), *warnings])
    notices |= dict.fromkeys(notice for dataset in inputs.data.values() for notice in dataset.notices)
    if occluders is not None and occluders.total > len(occluders.ids):
        notices[f"{occluders.total:,} cut-outs in '{occluders.text}', of which {len(occluders.ids)} are used"] = None
    remarks = notices_of(inputs.data, task)
    if task == "classification":
        remarks = [*unlabelled(inputs.data), *few_groups(inputs.data["test"])]
    if task == "classification":
        remarks += asked_once(inputs)
    return [*notices, *remarks, *few_references(audits, exam, inputs.data)]


def asked_once(inputs: Inputs) -> list[str]:
    """A notice for each service that is asked once about each image: what it says twice of the same pixels is not known."""
    return [
        f"'{name}' is a web service, which may answer the same pixels differently each time; how often is not known: #repeats=2 "
        "in its text measures it, at twice the requests"
        for name, runs in inputs.runs.items()
        if len(runs) == 1 and any(subject.name == name and subject.card.varies for subject in inputs.subjects)
    ]


def unlabelled(data: Mapping[str, Dataset]) -> list[str]:
    """A notice for each dataset with images whose label is not known."""
    notices = []
    for on, dataset in data.items():
        rows = np.flatnonzero(dataset.samples.labels < 0)
        if len(rows):
            few = "; ".join(dataset.samples.ids[row] for row in rows[:5])
            more = "; …" if len(rows) > 5 else ""
            notices.append(
                f"{len(rows)} of {len(dataset)} {on} images have no label and are left out of accuracy and of every measure that "
                f"needs one ({few}{more})"
            )
    return notices


def few_groups(data: Dataset) -> list[str]:
    """A notice where images come in so few groups that the finer checks stay silent."""
    groups = data.samples.columns.get("group")
    count = 0 if groups is None else len(np.unique(np.asarray(groups)))
    if not 0 < count < FEWEST_GROUPS or len(data) < FEWEST:
        return []
    return [
        f"the test images are in {count} group{'s' if count > 1 else ''}, such as videos: with fewer than {FEWEST_GROUPS} no "
        "preprocessing that does not fit and no other order of classes is told from chance, so these two checks stay silent"
    ]


def few_references(audits: Sequence[Audit], exam: Exam, data: Mapping[str, Dataset]) -> list[str]:
    """One notice per dataset whose images are too few for a method of maps that compares with usual ones."""
    pairs = [(request.method, request.on) for audit in audits for request in audit.maps(exam)]
    for cell in (cell for audit in audits for cell in audit.cells(exam)):
        saliency = saliency_of(cell.distortion) if isinstance(cell.distortion, Distortion) else None
        if saliency is not None:
            pairs.append((saliency.method, cell.on))
    needing = dict.fromkeys((method, on) for method, on in pairs if method_of(method).reference is not None)
    texts = [few_images(len(data[on]), f"the {on} data", method) for method, on in needing]
    return [text for text in texts if text is not None]
