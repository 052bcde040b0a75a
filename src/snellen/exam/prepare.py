"""Preparation: which models, data and audits, before the first image is shown. Needs no torch on a warm run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from snellen.audits import Audit, Baseline, Clean, Exam, default_audits, parse_audits
from snellen.data import Dataset, limited, load_data
from snellen.data.occluders import Occluders, read_occluders
from snellen.data.people import PeopleAnswers, read_people
from snellen.data.subset import read_ids
from snellen.data.variants import stored_variants
from snellen.distort.stimulus import Stimulus
from snellen.engine import Inputs, Plan, Pools, Requests, Settings, Store, make_plan
from snellen.engine.ask.watchdog import watch
from snellen.engine.keep.read_back import read_searches
from snellen.engine.keep.run_json import check_same, resume_settings
from snellen.engine.requests.cell import Cell, canvas_for
from snellen.engine.requests.map import MapRequest
from snellen.engine.settings import COMPILED
from snellen.errors import UserError
from snellen.exam.compile_choice import check_same_compile, pays
from snellen.exam.folder import check_folder
from snellen.exam.reference_notices import reference_notices
from snellen.exam.request import AuditRequest, ModelLike, Named, OccludersLike
from snellen.exam.tasks import check_audits, check_settings, check_truth, notices_of, task_of
from snellen.models.labels import LabelMap, match_classes, read_label_map
from snellen.models.subject import Subject, subjects_of


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
        cells = [cell for one in self.audits for cell in one.cells(self.exam)]
        maps = [request for one in self.audits for request in one.maps(self.exam)]
        trials = [trial for one in self.audits for trial in one.trials(self.exam)]
        searches = [search for one in self.audits for search in one.searches(self.exam)]
        surveys = [survey for one in self.audits for survey in one.surveys(self.exam)]
        store = Store(self.folder, ignored=self.fresh)
        plan = make_plan(self.inputs, Requests(cells, maps, trials, searches, surveys), store)
        if not plan.searches or plan.open_searches:
            return plan
        results = read_searches(store, plan.searches)
        cells += [cell for one in self.audits for cell in one.follow(self.exam, results)]
        return make_plan(self.inputs, Requests(cells, maps, trials, searches, surveys), store)

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
    if request.out is None:
        raise ValueError("a request is prepared for a run folder; give it out")
    check_folder(request.out, request.fresh)
    before = {} if request.fresh else Store(request.out).facts()
    data = {"test": _dataset(request.data, request.limit)}
    if request.train is not None:
        data["train"] = _dataset(request.train, request.limit)
    _check_train(data)
    settings = _settings(request, before)
    named = parse_audits(request.audits) if request.audits else []
    with watch(request.shard_timeout, "loading the models"):
        subjects = _subjects(request.models, settings.device)
    task = task_of(subjects)
    check_truth(data, task)
    check_settings(request, task)
    check_audits(named, subjects)
    defaults = default_audits(data["test"], before.get("audits", ())) if request.audits is None else []
    defaults = [(one, why) for one, why in defaults if task in one.tasks]
    baseline = Baseline() if task == "classification" else Clean()  # the yardstick is one of interference, of classes
    first = [] if any(isinstance(one, Clean) for one in named) else [baseline]
    audits = [*first, *(one for one, _ in defaults), *named]
    roles = tuple(data)
    variants = stored_variants(data["test"], [kind for one in audits for kind in one.variants])
    parts = {on: part for one in audits for on, part in one.parts(data["test"]).items()}
    data |= variants | parts
    labels, warnings = _label_maps(subjects, data, request.labels)
    canvases = [canvas_for(subject, one) for subject in subjects for one in data.values()]
    occluders = _cutouts(request.occluders)
    reaches = [] if occluders is None else [occluders.reach(one.height, one.width) for one in dict.fromkeys(canvases)]
    exam = Exam(
        classes={on: data[on].classes for on in roles},
        side=min(min(canvas.height, canvas.width) for canvas in canvases),
        seed=request.seed,
        donors=request.donors is not None,
        samples={on: one.samples for on, one in data.items()},
        losses=_losses(subjects),
        cutouts=min(reaches, default=0.0),
        facts={on: one.facts for on, one in data.items()},
        variants=frozenset(variants | parts),
        parts=frozenset(parts),
        texts={on: one.text for on, one in data.items()},
        lists=_lists(audits, data, request.limit is not None),
        responses=_responses(audits, subjects),
        tree=data["test"].tree or {},
        lost={one.name: labels[one.name, one.run, "test"].lost(data["test"].classes) for one in subjects},
        task=task,
    )
    donors = request.data if request.donors is None and _mixes_own_data(audits, exam) else request.donors
    pools = Pools(None if donors is None else _dataset(donors, None), occluders)
    _check_lenders(pools.donors, audits, exam)
    sources = {"test": request.data, "train": request.train, "donors": donors, "occluders": request.occluders}
    texts = {role: str(source) for role, source in sources.items() if isinstance(source, str | Path)}
    texts |= {role: one.text for role, one in variants.items()}
    inputs = Inputs(subjects=subjects, data=data, labels=labels, settings=settings, pools=pools, texts=texts)
    check_same(inputs, before, request.out)
    remarks = _unlabelled(data) if task == "classification" else notices_of(data, task)
    notices = [*_notices(subjects, warnings, occluders), *remarks, *reference_notices(audits, exam, data)]
    prepared = Prepared(
        request=request,
        folder=request.out,
        inputs=inputs,
        audits=audits,
        exam=exam,
        before=before,
        notices=notices,
        fresh=request.fresh,
        reasons={str(one): why for one, why in defaults},
    )
    if before or request.compile == "off" or not any(one.card.gradients for one in subjects):
        return prepared
    return prepared.with_compiled_networks() if request.compile == "on" or pays(prepared.plan()) else prepared


def _settings(request: AuditRequest, before: Mapping[str, Any]) -> Settings:
    """How to ask: as an earlier command in this folder did, else as the request and this machine say."""
    assert request.out is not None
    batch_size = None if request.batch_size == "auto" else request.batch_size
    if before:
        check_same_compile(request.out, before, request.compile)
        how = resume_settings(request.out, before, {"device": request.device, "batch_size": batch_size})
    else:
        how = _fresh_settings(request.device, batch_size, request.shard)
    return Settings(seed=request.seed, limit=request.limit, threads=request.threads, keep=request.keep, **how)


def _notices(subjects: Sequence[Subject], warnings: Sequence[str], occluders: Occluders | None) -> list[str]:
    """What a user should read before the audit begins."""
    notices = dict.fromkeys([*(notice for one in subjects for notice in one.card.notices), *warnings])
    if occluders is not None and occluders.total > len(occluders.ids):
        notices[f"{occluders.total:,} cut-outs in '{occluders.text}', of which {len(occluders.ids)} are used"] = None
    return list(notices)


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
    pairs = dict.fromkeys(pair for one in audits for pair in one.lists())
    return {(on, file): read_ids(data[on], file, limited) for on, file in pairs if on in data}


def _responses(audits: Sequence[Audit], subjects: Sequence[Subject]) -> dict[str, PeopleAnswers]:
    """The answers of people in the files that audits name."""
    models = {one.name for one in subjects}
    return {file: read_people(file) for one in audits for file in one.responses() if file not in models}


def _distortions(audits: Sequence[Audit], exam: Exam) -> list[Stimulus]:
    """Every distortion, trial and search that the audits need."""
    requests: list[Cell | MapRequest] = []
    for one in audits:
        requests += [*one.cells(exam), *one.maps(exam), *one.trials(exam), *one.searches(exam)]
    return list(dict.fromkeys(request.distortion for request in requests))


def _mixes_own_data(audits: Sequence[Audit], exam: Exam) -> bool:
    """Whether donors are needed, and only by distortions whose partners may come from the test data."""
    pasting = [distortion for distortion in _distortions(audits, exam) if "donors" in distortion.needs]
    return bool(pasting) and all(distortion.own_data for distortion in pasting)


def _check_lenders(pool: Dataset | None, audits: Sequence[Audit], exam: Exam) -> None:
    """Refuse donors of whose objects nothing is known, where they are to lend backgrounds."""
    if pool is None or pool.facts & {"masks", "boxes"}:
        return
    for distortion in _distortions(audits, exam):
        if distortion.donor_objects:
            raise UserError(
                f"{distortion} needs donors whose objects' boxes or masks are known, which {pool.text} does not have; "
                "give other --donors, for example voc:DIR"
            )


def _check_train(data: Mapping[str, Dataset]) -> None:
    """Refuse training data that are the test data: equal questions merge, and there is nothing to compare."""
    if "train" in data and data["train"].fingerprint == data["test"].fingerprint:
        raise UserError(
            f"the training data {data['train'].text} are the test data, image for image, so there is no gap to look at; "
            "pass --train the images that the model was trained on"
        )


def _unlabelled(data: Mapping[str, Dataset]) -> list[str]:
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


def _dataset(data: object, limit: int | None) -> Dataset:
    dataset = load_data(data) if isinstance(data, str) else data
    if not isinstance(dataset, Dataset):
        raise UserError(f"expected data as text or a Dataset, got {type(data).__name__}")
    return limited(dataset, limit)


def _cutouts(source: OccludersLike | None) -> Occluders | None:
    """The pool of cut-outs: a folder's, one that was read already, or none."""
    return source if source is None or isinstance(source, Occluders) else read_occluders(source)


def _subjects(models: Sequence[ModelLike], device: str) -> list[Subject]:
    """The runs to ask, of anything `audit` takes for models."""
    subjects: list[Subject] = []
    for one in models:
        if isinstance(one, str):
            subjects += subjects_of(one, device)
            continue
        from snellen.models.model import as_model

        model = as_model(one.model if isinstance(one, Named) else one, device=device)
        label = one.name if isinstance(one, Named) else model.name
        number = sum(other.name == label for other in subjects)
        run = f"{model.name}-{number}" if isinstance(one, Named) else model.name
        subjects.append(Subject(label, run, replace(model.card, name=label), model, by_text=False))
    _check_distinct(subjects)
    return subjects


def _check_distinct(subjects: Sequence[Subject]) -> None:
    """Refuse two models of one name, and one model under two names."""
    names: set[tuple[str, str]] = set()
    prints: dict[str, str] = {}
    for subject in subjects:
        if (subject.name, subject.run) in names:
            raise UserError(f"two models are called '{subject.name}'; name them, as in mine=timm:resnet18.a1_in1k")
        names.add((subject.name, subject.run))
        called = f"{subject.name} ({subject.run})"
        other = prints.setdefault(subject.card.fingerprint, called)
        if other != called:
            raise UserError(
                f"'{other}' and '{called}' are the same model (same weights and preprocessing); name it once"
            )


def _label_maps(
    subjects: Sequence[Subject], data: Mapping[str, Dataset], labels: Path | None
) -> tuple[dict[tuple[str, str, str], LabelMap], list[str]]:
    """How each model's classes become the data's, and what to warn of."""
    maps: dict[tuple[str, str, str], LabelMap] = {}
    notices: list[str] = []
    for subject in subjects:
        for on, dataset in data.items():
            where = subject.name, subject.run, on
            if subject.card.task == "detection":
                maps[where] = LabelMap(len(dataset.classes))  # it answers no classes
            elif labels is not None:
                maps[where] = read_label_map(labels, subject.card.classes, dataset.classes)
            else:
                maps[where], warnings = match_classes(subject.card.classes, dataset.classes, subject.name)
                notices += warnings
    return maps, notices


def _fresh_settings(device: str | None, batch_size: int | None, shard: int | None) -> dict[str, Any]:
    from snellen.models.device import choose_device, precision_on

    where = choose_device(device)
    return {"device": str(where), "precision": precision_on(where), "batch_size": batch_size, "shard": shard}
