"""The whole exam: from models, data and audits to a run with findings and a report."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from snellen.audits import Baseline, Exam, Finding, differences, parse_audits, with_trust
from snellen.checks import Doubt, copies, doubts_about, read_listed, refusal, told_once
from snellen.data import Dataset, limited, load_data
from snellen.engine import Answers, Plan, Progress, Settings, Store, make_plan, read_answers
from snellen.engine.cell import canvas_for
from snellen.engine.failures import TooManyFailures, check_failures, discard_failures
from snellen.engine.lock import writer_lock
from snellen.engine.mend import mend
from snellen.engine.record import check_same, record, resumed
from snellen.engine.settings import Cluster
from snellen.errors import UserError, unknown
from snellen.models.labels import LabelMap, matched, read_label_map
from snellen.models.subject import Subject, subjects_of
from snellen.run import Run
from snellen.whole import cannot_write

ENGINES = ("local", "ray")


@dataclass(frozen=True)
class Prepared:
    """All that is known before the first image is shown; `before` is the run.json that the folder already has, `texts` are
    the data (test, train, donors) that were given as text."""

    folder: Path
    subjects: Sequence[Subject]
    data: Mapping[str, Dataset]
    donors: Dataset | None
    audits: Sequence[Any]
    exam: Exam
    labels: Mapping[tuple[str, str, str], LabelMap]
    settings: Settings
    notices: Sequence[str]
    before: Mapping[str, Any]
    fresh: bool
    texts: Mapping[str, str]

    def plan(self) -> Plan:
        """What is left to ask, as the store stands now."""
        cells = [cell for one in self.audits for cell in one.cells(self.exam)]
        donors = None if self.donors is None else self.donors.fingerprint
        store = Store(self.folder, ignored=self.fresh)
        return make_plan(self.subjects, self.data, cells, self.labels, self.settings, store, donors)


def audit(
    models: Any,
    data: Any,
    audits: Any = None,
    out: Path | str | None = None,
    engine: str = "local",
    *,
    report: bool = True,
    quiet: bool = False,
    strict: bool = False,
    command: Sequence[str] = (),
    address: str | None = None,
    actors: int | None = None,
    cpus_per_actor: int | None = None,
    shard_timeout: float | None = None,
    **settings: Any,
) -> Run:
    """Ask the models, conclude, and leave a run folder with findings and (unless `report` is false) a report.

    `models`: a text, a model, a torch module, a callable, a list of these, or a dictionary from names to one or several
    (several are runs of one model). `data`: a text or a Dataset. `audits`: a text, audits, or None for all. `engine`: local,
    or ray with the `address` of a cluster, the number of `actors`, the CPUs of each and the seconds after which a shard
    counts as hung. `strict`: a warning of the checks is an error, and nothing is concluded. Further settings are those
    of `prepare`.
    """
    wide = dict(address=address, actors=actors, cpus_per_actor=cpus_per_actor, shard_timeout=shard_timeout)
    cluster = _cluster(engine, {name: value for name, value in wide.items() if value is not None})
    folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="snellen-"))
    progress = Progress(quiet)
    prepared = prepare(models, data, audits, folder, **settings)
    for notice in prepared.notices:
        progress.note(notice)
    return carry_out(prepared, progress, command, report, strict, cluster)


def prepare(
    models: Any,
    data: Any,
    audits: Any,
    folder: Path,
    *,
    train: Any = None,
    donors: Any = None,
    labels: Path | str | None = None,
    seed: int = 0,
    limit: int | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    shard: int | None = None,
    threads: int | None = None,
    keep: Literal["top5", "logits"] | None = None,
    fresh: bool = False,
) -> Prepared:
    """Everything up to the plan; nothing is written, and torch is not needed where nothing is left to ask."""
    _check_folder(folder, fresh)
    before = {} if fresh else Store(folder).facts()
    held = {"test": _dataset(data, limit)} | ({"train": _dataset(train, limit)} if train is not None else {})
    pool = None if donors is None else _dataset(donors, None)
    wanted = {"device": device, "batch_size": batch_size}
    how = resumed(folder, before, wanted) if before else _fresh_settings(device, batch_size, shard)
    settings = Settings(seed=seed, limit=limit, threads=threads, keep=keep, **how)
    listed = [Baseline(), *parse_audits(audits)]
    subjects = _subjects(models, settings.device)
    maps, warnings = _label_maps(subjects, held, labels)
    canvases = [canvas_for(subject, one) for subject in subjects for one in held.values()]
    side = min(min(canvas.height, canvas.width) for canvas in canvases)
    exam = Exam({on: one.classes for on, one in held.items()}, side, seed, pool is not None)
    notices = list(dict.fromkeys([*(n for s in subjects for n in s.card.notices), *warnings]))
    texts = {
        role: given for role, given in (("test", data), ("train", train), ("donors", donors)) if isinstance(given, str)
    }
    prepared = Prepared(folder, subjects, held, pool, listed, exam, maps, settings, notices, before, fresh, texts)
    check_same(prepared)
    return prepared


def carry_out(
    prepared: Prepared,
    progress: Progress,
    command: Sequence[str] = (),
    report: bool = True,
    strict: bool = False,
    cluster: Cluster | None = None,
) -> Run:
    """Ask what is missing, check the clean answers, conclude and write findings and report."""
    from snellen.report import write_findings, write_results

    folder = prepared.folder
    _make_folder(folder)
    with writer_lock(folder):
        if prepared.fresh:
            _empty(folder)
        for notice in mend(Store(folder)):
            progress.note(notice)
        plan = replace(prepared, fresh=False).plan()
        store = Store(folder)
        facts = record(prepared, plan, command)
        if plan.passes or not store.files("cells"):
            facts["engine"] = "local" if cluster is None else "ray"
            store.write_facts(facts)
            store.add_cells(one.row(prepared.data[one.cell.on], plan.settings.precision) for one in plan.asked)
        try:
            if plan.passes:
                facts["settings"]["batch_size"] = _asked(plan, store, progress, prepared, cluster)
            check_failures(store, plan.asked, {on: len(held) for on, held in prepared.data.items()})
        except TooManyFailures:
            discard_failures(store)
            raise
        settings = replace(plan.settings, batch_size=facts["settings"]["batch_size"])
        facts["preprocessing"] |= check_preprocessing(prepared, settings, facts["preprocessing"], progress)
        store.write_facts(facts)
        everyone = read_answers(store, plan.asked, prepared.data)
        doubts = check(prepared, everyone, facts["preprocessing"])
        if doubts and strict:
            raise UserError(refusal(doubts))
        for doubt in doubts:
            progress.warn(str(doubt))
        run = Run(folder)
        (write_results if report else write_findings)(run, conclude(prepared, everyone), doubts)
    return run


def check_preprocessing(
    prepared: Prepared, settings: Settings, known: Mapping[str, Any], progress: Progress
) -> dict[str, list[dict[str, str]]]:
    """The doubts about the preprocessing of each run that is not `known` yet, for run.json: torch is needed only once."""
    told: dict[str, list[dict[str, str]]] = {}
    for subject in prepared.subjects:
        key = f"{subject.name}/{subject.run}"
        if key not in known:
            from snellen.checks.pixels import preprocessing

            progress.say(f"checking the preprocessing of {subject.name} ({subject.run})")
            labels = prepared.labels[subject.name, subject.run, "test"]
            doubt = preprocessing(subject, prepared.data["test"], labels, settings)
            told[key] = [doubt.to_json()] if doubt else []
    return told


def check(prepared: Prepared, everyone: Sequence[Answers], preprocessing: Mapping[str, Any]) -> list[Doubt]:
    """Why the numbers should not be believed yet: each model's preprocessing and clean answers, then the data."""
    doubts: list[Doubt] = []
    for answers in everyone:
        runs = [subject for subject in prepared.subjects if subject.name == answers.model]
        told = [Doubt(**held) for one in runs for held in preprocessing.get(f"{one.name}/{one.run}", ())]
        stated = {one.run: one.card.stated for one in runs}
        doubts += told_once(told, len(runs)) + doubts_about(answers, prepared.exam.clean(), stated)
    return doubts + copies({on: read_listed(prepared.folder, on) for on in prepared.data})


def conclude(prepared: Prepared, everyone: Sequence[Answers]) -> list[Finding]:
    """Every audit's findings for every model, each with its interference, and the differences between models."""
    findings: list[Finding] = []
    for answers in everyone:
        for one in prepared.audits:
            findings += with_trust(prepared.exam, answers, one.conclude(prepared.exam, answers))
    return findings + differences(prepared.exam, everyone, findings)


def _cluster(engine: str, wide: Mapping[str, Any]) -> Cluster | None:
    """Where to run, if not here."""
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    if engine == "ray":
        return Cluster(**wide)
    if wide:
        raise UserError(f"--{next(iter(wide)).replace('_', '-')} needs --engine ray")
    return None


def _asked(plan: Plan, store: Store, progress: Progress, prepared: Prepared, cluster: Cluster | None) -> int | None:
    """Ask what is missing, here or on a cluster; the batch size that a resumed run should use."""
    if cluster is None:
        from snellen.engine.local import run_local

        return run_local(plan, store, progress, prepared.donors)
    from snellen.engine.cluster import run_cluster

    return run_cluster(plan, store, progress, prepared.donors, prepared.texts, cluster)


def _dataset(data: Any, limit: int | None) -> Dataset:
    held = load_data(data) if isinstance(data, str) else data
    if not isinstance(held, Dataset):
        raise UserError(f"expected data as text or a Dataset, got {type(data).__name__}")
    return limited(held, limit)


def _subjects(models: Any, device: str) -> list[Subject]:
    """The runs to ask, of anything `audit` takes for models."""
    named: list[tuple[str | None, Any]] = []
    if isinstance(models, Mapping):
        for name, given in models.items():
            named += [(str(name), one) for one in (given if isinstance(given, list | tuple) else [given])]
    else:
        named = [(None, one) for one in (models if isinstance(models, list | tuple) else [models])]
    subjects: list[Subject] = []
    for name, thing in named:
        if isinstance(thing, str):
            subjects += subjects_of(f"{name}={thing}" if name else thing, device)
            continue
        from snellen.models.model import as_model

        model = as_model(thing, device=device)
        label = name or model.name
        run = f"{model.name}-{sum(s.name == label for s in subjects)}" if name else model.name
        subjects.append(Subject(label, run, replace(model.card, name=label), model, by_text=False))
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
                f"'{other}' and '{called}' are the same model (same weights and preprocessing); ask it once"
            )
    if not subjects:
        raise UserError("no model given; for example timm:resnet18.a1_in1k")
    return subjects


def _label_maps(
    subjects: Sequence[Subject], data: Mapping[str, Dataset], labels: Path | str | None
) -> tuple[dict[tuple[str, str, str], LabelMap], list[str]]:
    """How each model's classes become the data's, and what to warn of."""
    maps: dict[tuple[str, str, str], LabelMap] = {}
    notices: list[str] = []
    for subject in subjects:
        for on, held in data.items():
            where = subject.name, subject.run, on
            if labels is not None:
                maps[where] = read_label_map(Path(labels), subject.card.classes, held.classes)
            else:
                maps[where], warnings = matched(subject.card.classes, held.classes, subject.name)
                notices += warnings
    return maps, notices


def _fresh_settings(device: str | None, batch_size: int | None, shard: int | None) -> dict[str, Any]:
    from snellen.models.device import chosen_device, precision_on

    where = chosen_device(device)
    return {"device": str(where), "precision": precision_on(where), "batch_size": batch_size, "shard": shard}


def _check_folder(folder: Path, fresh: bool) -> None:
    """Refuse a folder that holds something else, before anything is written to it or removed from it."""
    if folder.is_file():
        raise UserError(f"'{folder}' is a file; choose another --out")
    if folder.exists() and not (folder / "run.json").exists() and any(not _leftover(p) for p in folder.iterdir()):
        raise UserError(f"'{folder}' is not empty and not a run folder (it has no run.json); choose another --out")


def _leftover(path: Path) -> bool:
    """What a run that was killed, or ran out of space, before its run.json may have left."""
    return path.name == "run.lock" or (path.name.startswith("run.json.") and path.suffix == ".part")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.lock").touch()
    except OSError as error:
        raise cannot_write(folder, error) from None


def _empty(folder: Path) -> None:
    """Remove what an earlier run left, for --fresh."""
    for name in ("answers", "shown", "samples", "thumbs"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in ("run.json", "cells.parquet", "findings.json", "findings.csv", "report.html", "report.md"):
        (folder / name).unlink(missing_ok=True)
