"""The whole exam: from models, data and audits to a run with findings and a report."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from snellen.audits import Baseline, Exam, Finding, differences, parse_audits, with_trust
from snellen.data import Dataset, limited, load_data
from snellen.engine import Plan, Progress, Settings, Store, make_plan, read_answers
from snellen.engine.cell import canvas_for
from snellen.engine.failures import TooManyFailures, check_failures, discard_failures
from snellen.engine.lock import writer_lock
from snellen.engine.mend import mend
from snellen.engine.record import check_same, record, resumed
from snellen.errors import UserError, unknown
from snellen.models.labels import LabelMap, matched, read_label_map
from snellen.models.subject import Subject, subjects_of
from snellen.run import Run
from snellen.whole import cannot_write

ENGINES = ("local",)


@dataclass(frozen=True)
class Prepared:
    """All that is known before the first image is shown; `before` is the run.json that the folder already has."""

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
    command: Sequence[str] = (),
    **settings: Any,
) -> Run:
    """Ask the models, conclude, and leave a run folder with findings and (unless `report` is false) a report.

    `models`: a text, a model, a torch module, a callable, a list of these, or a dictionary from names to one or several
    (several are runs of one model). `data`: a text or a Dataset. `audits`: a text, audits, or None for all. Further
    settings are those of `prepare`.
    """
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="snellen-"))
    progress = Progress(quiet)
    prepared = prepare(models, data, audits, folder, **settings)
    for notice in prepared.notices:
        progress.warn(notice)
    return carry_out(prepared, progress, command, report)


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
    prepared = Prepared(folder, subjects, held, pool, listed, exam, maps, settings, notices, before, fresh)
    check_same(prepared)
    return prepared


def carry_out(prepared: Prepared, progress: Progress, command: Sequence[str] = (), report: bool = True) -> Run:
    """Ask what is missing, conclude and write findings and report."""
    from snellen.report import write_findings, write_results

    folder = prepared.folder
    _make_folder(folder)
    with writer_lock(folder):
        if prepared.fresh:
            _empty(folder)
        for notice in mend(Store(folder)):
            progress.warn(notice)
        plan = replace(prepared, fresh=False).plan()
        store = Store(folder)
        facts = record(prepared, plan, command)
        if plan.passes or not store.files("cells"):
            store.write_facts(facts)
            store.add_cells(one.row(prepared.data[one.cell.on], plan.settings.precision) for one in plan.asked)
        try:
            if plan.passes:
                from snellen.engine.local import run_local

                facts["settings"]["batch_size"] = run_local(plan, store, progress, prepared.donors)
            check_failures(store, plan.asked, {on: len(held) for on, held in prepared.data.items()})
        except TooManyFailures:
            discard_failures(store)
            raise
        findings = conclude(prepared, plan, store)
        store.write_facts(facts)
        run = Run(folder)
        (write_results if report else write_findings)(run, findings)
    return run


def conclude(prepared: Prepared, plan: Plan, store: Store) -> list[Finding]:
    """Every audit's findings for every model, each with its interference, and the differences between models."""
    findings: list[Finding] = []
    everyone = read_answers(store, plan.asked, prepared.data)
    for answers in everyone:
        for one in prepared.audits:
            findings += with_trust(prepared.exam, answers, one.conclude(prepared.exam, answers))
    return findings + differences(prepared.exam, everyone, findings)


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
        subjects.append(Subject(label, run, replace(model.card, name=label), model))
    seen: set[tuple[str, str]] = set()
    for subject in subjects:
        if (subject.name, subject.run) in seen:
            raise UserError(f"two models are called '{subject.name}'; name them, as in mine=timm:resnet18.a1_in1k")
        seen.add((subject.name, subject.run))
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
