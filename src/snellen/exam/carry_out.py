"""The whole exam: from models, data and audits to a run with findings and a report."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from snellen.atomic import cannot_write
from snellen.audits import Finding, differences, with_trust
from snellen.checks import Doubt, certain, copies, doubts_about, read_listed, refusal, told_once
from snellen.engine import Answers, Plan, Progress, Store, read_answers
from snellen.engine.ask.watchdog import TookTooLong, Watchdog, watched
from snellen.engine.keep.failures import TooManyFailures, check_failures, discard_failures
from snellen.engine.keep.lock import writer_lock
from snellen.engine.keep.repair import repair
from snellen.engine.keep.run_json import record
from snellen.engine.keep.thumbnails import add_pictures, add_trial_pictures
from snellen.engine.settings import Cluster
from snellen.errors import UserError, unknown
from snellen.exam.prepare import Prepared, prepare
from snellen.exam.run import Run

ENGINES = ("local", "ray")


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
    (several are runs of one model). `data`: a text or a Dataset. `audits`: a text, audits, or None for the default:
    occlusion and interference, background where the data have masks or boxes, shape where they are cue conflicts. `engine`:
    local, or ray with the `address` of a cluster, the number of `actors` and the CPUs of each. `shard_timeout`: the seconds
    after which a shard counts as hung; it is asked again on ray (default 1800), and ends a local run (default: never).
    `strict`: a warning of the checks is an error, and nothing is concluded. Further settings are those of `prepare`.
    """
    if shard_timeout is not None and not shard_timeout > 0:
        raise UserError(f"expected shard-timeout of more than 0 seconds, got {shard_timeout:g}")
    wide = dict(address=address, actors=actors, cpus_per_actor=cpus_per_actor)
    cluster = _cluster(engine, {name: value for name, value in wide.items() if value is not None}, shard_timeout)
    folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="snellen-"))
    progress = Progress(quiet)
    prepared = prepare(models, data, audits, folder, **settings)
    for notice in prepared.notices:
        progress.note(notice)
    return carry_out(prepared, progress, command, report, strict, cluster, shard_timeout)


def carry_out(
    prepared: Prepared,
    progress: Progress,
    command: Sequence[str] = (),
    report: bool = True,
    strict: bool = False,
    cluster: Cluster | None = None,
    shard_timeout: float | None = None,
    look: bool = True,
) -> Run:
    """Take a first look, ask what is missing, check the clean answers, conclude and write findings and report.

    Without `look` the first look is left out, for whoever knows that the models are preprocessed rightly.
    """
    from snellen.report import write_findings, write_results

    folder = prepared.folder
    if prepared.fresh:
        prepared.plan()  # what cannot be asked is refused before anything is removed
    with _made(folder), writer_lock(folder):
        if prepared.fresh:
            _empty(folder)
        for notice in repair(Store(folder)):
            progress.note(notice)
        plan = replace(prepared, fresh=False).plan()
        store = Store(folder)
        facts = record(prepared, plan, command)
        early = look_first(prepared, facts["preprocessing"], progress, cluster, shard_timeout) if look else []
        if strict and certain(early):
            raise UserError(f"nothing was asked: {refusal(certain(early))}")
        for doubt in early:
            progress.warn(str(doubt))
        if plan.passes or plan.open_trials or not store.files("cells"):
            facts["engine"] = "local" if cluster is None else "ray"
            store.write_facts(facts)
            everything = (*plan.asked, *plan.trials)
            store.add_cells(one.row(prepared.data[one.cell.on], plan.settings.precision) for one in everything)
        for key, wanted in plan.every_map.items():
            store.begin_map(key, wanted.row())
        try:
            if plan.passes:
                facts["settings"]["batch_size"] = _asked(plan, store, progress, prepared, cluster, shard_timeout)
            if plan.open_trials:
                if cluster is not None:
                    progress.note("trials, whose questions depend on answers, run on this machine, not on the cluster")
                facts["settings"]["batch_size"] = _tried(plan, store, progress, prepared, shard_timeout)
            check_failures(store, (*plan.asked, *plan.maps), {on: len(held) for on, held in prepared.data.items()})
        except TooManyFailures:
            discard_failures(store)
            raise
        store.write_facts(facts)
        everyone = read_answers(store, plan.asked, prepared.data, plan.maps, plan.trials)
        doubts = check(prepared, everyone, facts["preprocessing"])
        if doubts and strict:
            raise UserError(f"nothing was concluded: {refusal(doubts)}")
        said = {(doubt.name, doubt.model) for doubt in early}
        for doubt in doubts:
            if (doubt.name, doubt.model) not in said:
                progress.warn(str(doubt))
        run = Run(folder)
        findings = conclude(prepared, everyone)
        if report:
            pictures = [picture for one in prepared.audits for picture in one.pictures(prepared.exam, findings)]
            add_pictures(pictures, plan, store, (prepared.donors, prepared.occluders))
            things = [thing for one in prepared.audits for thing in one.trial_pictures(prepared.exam, findings)]
            add_trial_pictures(things, plan, store, (prepared.donors, prepared.occluders))
        (write_results if report else write_findings)(run, findings, doubts)
    return run


def look_first(
    prepared: Prepared,
    known: dict[str, Any],
    progress: Progress,
    cluster: Cluster | None = None,
    shard_timeout: float | None = None,
) -> list[Doubt]:
    """What a few images make doubtful before the rest is asked; what is said of preprocessing becomes `known`.

    A run that is known already is not looked at again: torch is needed only once. Where a cluster asks, only torch networks
    are looked at here: a callable may live where the actors are. A look that takes too long is left out.
    """
    early: list[Doubt] = []
    for name in dict.fromkeys(subject.name for subject in prepared.subjects):
        runs = [subject for subject in prepared.subjects if subject.name == name]
        found: list[Doubt] = []
        for subject in runs:
            key = f"{subject.name}/{subject.run}"
            if key in known:
                found += [Doubt(**held) for held in known[key]]
                continue
            from snellen.checks.first_look import first_look

            progress.say(f"a first look at {subject.name} ({subject.run})")
            labels = prepared.labels[subject.name, subject.run, "test"]
            try:
                with watched(shard_timeout):
                    doubts = first_look(
                        subject, prepared.data["test"], labels, prepared.settings, networks_only=cluster is not None
                    )
            except TookTooLong:
                progress.note(f"the first look at {subject.name} took more than {shard_timeout:g} s and was left out")
                continue
            known[key] = [doubt.to_json() for doubt in doubts if doubt.name == "preprocessing"]
            found += doubts
        early += told_once(found, len(runs))
    return early


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
    """Every audit's findings for every model, each with its interference; what audits say of all models together, and the
    differences between models."""
    findings: list[Finding] = []
    for answers in everyone:
        for one in prepared.audits:
            findings += with_trust(prepared.exam, answers, one.conclude(prepared.exam, answers))
    for one in prepared.audits:
        comparisons = one.compare(prepared.exam, everyone, findings)
        for answers in everyone:
            own = [each for each in comparisons if each.model == answers.model]
            findings += with_trust(prepared.exam, answers, own)
        names = {answers.model for answers in everyone}
        findings += [each for each in comparisons if each.model not in names]
    return findings + differences(prepared.exam, everyone, findings)


def _cluster(engine: str, wide: Mapping[str, Any], shard_timeout: float | None) -> Cluster | None:
    """Where to run, if not here."""
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    if engine == "ray":
        return Cluster(**wide) if shard_timeout is None else Cluster(**wide, shard_timeout=shard_timeout)
    if wide:
        raise UserError(f"--{next(iter(wide)).replace('_', '-')} needs --engine ray")
    return None


def _asked(
    plan: Plan,
    store: Store,
    progress: Progress,
    prepared: Prepared,
    cluster: Cluster | None,
    shard_timeout: float | None,
) -> int | None:
    """Ask what is missing, here or on a cluster; the batch size that a resumed run should use."""
    if cluster is None:
        from snellen.engine.ask.local import run_local

        return run_local(plan, store, progress, prepared.donors, shard_timeout, prepared.occluders)
    from snellen.engine.ask.cluster import run_cluster

    return run_cluster(plan, store, progress, prepared.donors, prepared.texts, cluster, prepared.occluders)


def _tried(plan: Plan, store: Store, progress: Progress, prepared: Prepared, shard_timeout: float | None) -> int | None:
    """Carry out the trials that are missing; the batch size that a resumed run should use."""
    from snellen.engine.ask.trials import run_trials

    pasted = prepared.donors, prepared.occluders
    if shard_timeout is None:
        return run_trials(plan, store, progress, pasted)
    watchdog = Watchdog(shard_timeout)
    with watchdog.watching():
        return run_trials(plan, store, progress, pasted, watchdog.fed)


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The run folder is there; one that was made for a run that is then refused is gone again."""
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "run.lock").touch()
    except OSError as error:
        raise cannot_write(folder, error) from None
    try:
        yield
    except UserError:
        if new:
            _remove_if_bare(folder)
        raise


def _remove_if_bare(folder: Path) -> None:
    """Leave no trace of a run that was refused before anything was stored, nor of the folders made for it."""
    if folder.is_dir() and [path.name for path in folder.iterdir()] == ["run.lock"]:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.parent.name == "runs" and not any(folder.parent.iterdir()):
            folder.parent.rmdir()


def _empty(folder: Path) -> None:
    """Remove what an earlier run left, for --fresh."""
    for name in ("answers", "shown", "samples", "maps", "trials", "things", "thumbs"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in ("run.json", "cells.parquet", "findings.json", "findings.csv", "report.html", "report.md"):
        (folder / name).unlink(missing_ok=True)
