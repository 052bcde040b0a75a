"""Preparation: which models, data and audits, before the first image is shown. Needs no torch on a warm run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from snellen.audits import Audit, BaselineAudit, CleanAudit, Exam, RepliesAudit, default_audits, parse_audits
from snellen.data import Dataset
from snellen.engine import Inputs, Plan, Pools, Requests, Settings, Store, make_plan
from snellen.engine.keep.read_back import read_searches
from snellen.engine.keep.run_json import check_same, resume_settings
from snellen.engine.settings import COMPILED
from snellen.exam.compile_choice import check_same_compile, pays
from snellen.exam.folder import check_folder
from snellen.exam.known_facts import chat_models, make_exam
from snellen.exam.load_inputs import (
    add_stored,
    donors_source,
    load_donors,
    load_main,
    load_subjects,
    match_labels,
    read_cutouts,
    texts_of,
)
from snellen.exam.notices import notices_before
from snellen.exam.request import AuditRequest
from snellen.exam.tasks import check_audits, check_settings, check_truth, task_of
from snellen.models.card import Task
from snellen.models.subject import Subject


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """All that is known before the first image is shown; `before` is the run.json that the folder already has. `reasons` say
    why an audit that was not named is run (by its text); `request` is what all this was made of."""

    request: AuditRequest
    folder: Path
    inputs: Inputs
    audits: Sequence[Audit]
    exam: Exam
    before: Mapping[str, Any]
    notices: Sequence[str] = ()
    fresh: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)

    def plan(self) -> Plan:
        """What is left to ask, as the store stands now; what follows from searches only once these have ended."""
        store, wanted = Store(self.folder, ignored=self.fresh), self._requests()
        plan = make_plan(self.inputs, wanted, store)
        if not plan.searches or plan.open_searches:
            return plan
        results = read_searches(store, plan.searches)
        following = [cell for audit in self.audits for cell in audit.follow(self.exam, results)]
        return make_plan(self.inputs, replace(wanted, cells=[*wanted.cells, *following]), store)

    def _requests(self) -> Requests:
        """What all audits ask for, before anything is known."""
        return Requests(
            cells=[cell for audit in self.audits for cell in audit.cells(self.exam)],
            maps=[request for audit in self.audits for request in audit.maps(self.exam)],
            trials=[trial for audit in self.audits for trial in audit.trials(self.exam)],
            searches=[search for audit in self.audits for search in audit.searches(self.exam)],
            surveys=[survey for audit in self.audits for survey in audit.surveys(self.exam)],
            optional=frozenset(self.exam.yardstick(on) for on in self.exam.classes),  # people were not shown it
        )

    def with_compiled_networks(self) -> Prepared:
        """The same with torch networks compiled."""
        settings = self.inputs.settings
        settings = replace(settings, precision=settings.precision_of(compiled=False) + COMPILED)
        return replace(self, inputs=replace(self.inputs, settings=settings))

    def as_it_is_now(self) -> Prepared:
        """The same, prepared again where the folder's run.json is no longer the one that was compared with; under the
        folder's lock it stays so."""
        return self if self.fresh or Store(self.folder).facts() == self.before else prepare(self.request)


def prepare(request: AuditRequest) -> Prepared:
    """Everything up to the plan; nothing is written, and torch is not needed where nothing is left to ask."""
    folder, before = _open_folder(request)
    main = load_main(request)
    settings = _settings(request, folder, before)
    named = parse_audits(request.audits) if request.audits else []
    subjects = load_subjects(request, settings.device, main["test"].classes)
    task = _check_task(request, main, named, subjects)
    audits, reasons = _choose_audits(request, named, main["test"], task, before)
    if chat_models(subjects) and not any(isinstance(audit, RepliesAudit) for audit in audits):
        audits.append(RepliesAudit())
        reasons[str(audits[-1])] = "chosen because a model replies in words"
    data = add_stored(main, audits)
    labels, warnings = match_labels(subjects, data.every, request.labels)
    occluders = read_cutouts(request.occluders)
    exam = make_exam(request, audits, subjects, data, labels, occluders)
    donors = donors_source(request, audits, exam)
    inputs = Inputs(
        subjects=subjects,
        data=data.every,
        labels=labels,
        settings=settings,
        pools=Pools(load_donors(donors, audits, exam), occluders),
        texts=texts_of(request, donors, data),
    )
    check_same(inputs, before, folder)
    prepared = Prepared(
        request=request,
        folder=folder,
        inputs=inputs,
        audits=audits,
        exam=exam,
        before=before,
        notices=notices_before(inputs, audits, exam, warnings),
        fresh=request.fresh,
        reasons=reasons,
    )
    return _compiled_where_wanted(prepared)


def _open_folder(request: AuditRequest) -> tuple[Path, Mapping[str, Any]]:
    """The run folder, which must be one or become one, and the run.json of the earlier commands in it."""
    if request.out is None:
        raise ValueError("a request is prepared for a run folder; give it out")
    check_folder(request.out, request.fresh)
    return request.out, {} if request.fresh else Store(request.out).facts()


def _settings(request: AuditRequest, folder: Path, before: Mapping[str, Any]) -> Settings:
    """How to ask: as an earlier command in this folder did, else as the request and this machine say."""
    batch_size = None if request.batch_size == "auto" else request.batch_size
    if before:
        check_same_compile(folder, before, request.compile)
        how = resume_settings(folder, before, {"device": request.device, "batch_size": batch_size})
    else:
        how = _fresh_settings(request.device, batch_size, request.shard)
    return Settings(seed=request.seed, limit=request.limit, threads=request.threads, keep=request.keep, **how)


def _fresh_settings(device: str | None, batch_size: int | None, shard: int | None) -> dict[str, Any]:
    from snellen.models.device import choose_device, precision_on

    where = choose_device(device)
    return {"device": str(where), "precision": precision_on(where), "batch_size": batch_size, "shard": shard}


def _check_task(
    request: AuditRequest, data: Mapping[str, Dataset], audits: Sequence[Audit], subjects: Sequence[Subject]
) -> Task:
    """What all models are for; data, settings and audits that do not fit it are refused."""
    task = task_of(subjects)
    check_truth(data, task)
    check_settings(request, task)
    check_audits(audits, subjects)
    return task


def _choose_audits(
    request: AuditRequest, named: Sequence[Audit], test: Dataset, task: Task, before: Mapping[str, Any]
) -> tuple[list[Audit], dict[str, str]]:
    """The audits to run, clean images first, and by its text why each of those that were not named is one of them."""
    defaults = default_audits(test, before.get("audits", ())) if request.audits is None else []
    defaults = [(audit, why) for audit, why in defaults if task in audit.tasks]
    # The baseline adds the yardstick of interference, which is about classes of images.
    clean = BaselineAudit() if task == "classification" else CleanAudit()
    first = [] if any(isinstance(audit, CleanAudit) for audit in named) else [clean]
    return [*first, *(audit for audit, _ in defaults), *named], {str(audit): why for audit, why in defaults}


def _compiled_where_wanted(prepared: Prepared) -> Prepared:
    """With torch networks compiled where the request says so, or where it pays; an earlier command's choice stays."""
    wanted, subjects = prepared.request.compile, prepared.inputs.subjects
    if prepared.before or wanted == "off" or not any(subject.card.gradients for subject in subjects):
        return prepared
    return prepared.with_compiled_networks() if wanted == "on" or pays(prepared.plan()) else prepared
