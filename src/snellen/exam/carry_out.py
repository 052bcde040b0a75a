"""Carrying a prepared audit out: ask what is missing, check, conclude, and leave a run folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from snellen.check.condition import Condition
from snellen.check.deciding import decide
from snellen.check.run_side import RunSide
from snellen.checks import certain, refusal
from snellen.engine import Plan, RunProgress, Store, read_answers
from snellen.engine.ask.watchdog import Watchdog
from snellen.engine.keep.answer_journal import answers_kept
from snellen.engine.keep.failures import TooManyFailures, check_failures, discard_failures
from snellen.engine.keep.gate_record import Undecided
from snellen.engine.keep.recent import RecentTables
from snellen.engine.keep.repair import Repair, repair_store
from snellen.engine.keep.request_tally import counting_requests
from snellen.engine.keep.run_json import record
from snellen.engine.keep.thumbnails import redraw
from snellen.engine.service_plan import requests_so_far, service_plans
from snellen.engine.settings import Cluster
from snellen.errors import UserError
from snellen.exam.conclude import add_report_pictures, check, conclude
from snellen.exam.drift import drifts, with_drifts
from snellen.exam.early_doubts import EarlyDoubts, FirstLooks
from snellen.exam.folder import empty
from snellen.exam.prepare import Prepared
from snellen.exam.run import Run
from snellen.freed_memory import keep_freed_memory
from snellen.lock import own_folder
from snellen.models.remote.turns import BudgetSpent

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Where and how an audit is carried out: on a `cluster` or here, with so many seconds per shard. `strict` refuses to
    conclude what a check doubts; without `first_look` models are taken to be preprocessed rightly; `command` is what
    run.json says was typed. `conditions` are what is required of the findings."""

    cluster: Cluster | None = None
    shard_timeout: float | None = None
    strict: bool = False
    report: bool = True
    first_look: bool = True
    conditions: Sequence[Condition] = ()
    undecided: Undecided = "warn"
    command: Sequence[str] = ()


def carry_out(prepared: Prepared, progress: RunProgress, execution: Execution) -> Run:
    """Take a first look, ask what is missing, check the clean answers, conclude and write findings and report."""
    from snellen.report import write_findings, write_gate, write_reports
    from snellen.report.exclusions import excluded_notices

    folder = prepared.folder
    with own_folder(folder), keep_freed_memory(prepared.inputs.settings.device == "cpu"):
        prepared, store = prepared.as_it_is_now(), Store(folder, recent=RecentTables())
        repair = Repair() if prepared.fresh else repair_store(store)
        for notice in repair.notices:
            progress.note(notice)
        plan = prepared.plan()
        facts = record(
            prepared.inputs,
            plan,
            prepared.before,
            audits={str(audit): prepared.reasons.get(str(audit), "") for audit in prepared.audits},
            command=execution.command,
            notices=prepared.notices,
        )
        early = _first_looks(prepared, facts["preprocessing"], progress, execution)
        facts["notices"] += early.notices
        facts["preprocessing"] = early.preprocessing
        if execution.strict and certain(early.doubts):
            raise UserError(f"nothing was asked: {refusal(certain(early.doubts))}")
        drift = drifts(prepared, plan, store)
        moved = [doubt for doubts in drift.values() for doubt in doubts]
        if execution.strict and moved:
            raise UserError(f"nothing was asked: {refusal(moved)}")
        if stored := with_drifts(facts.get("drift", {}), drift):
            facts["drift"] = stored
        for doubt in (*early.doubts, *moved):
            progress.warn(str(doubt))
        if prepared.fresh:  # only now, when nothing is left that could refuse the run
            empty(folder)
        redraw(repair.pictures, plan, store, prepared.inputs.pools)
        ask_missing(prepared, plan, store, facts, progress, execution)
        if plan.open_searches:  # now it is known what follows from them
            plan = replace(prepared, fresh=False).plan()
            ask_missing(prepared, plan, store, facts, progress, execution)
        everyone = read_answers(
            store,
            plan.cells,
            prepared.inputs.data,
            plan.maps,
            plan.trials,
            (*plan.searches, *plan.surveys),
        )
        doubts = check(prepared, store, everyone, facts)
        if doubts and execution.strict:
            raise UserError(f"nothing was concluded: {refusal(doubts)}")
        already = {(doubt.name, doubt.model) for doubt in (*early.doubts, *moved)}
        for doubt in doubts:
            if (doubt.name, doubt.model) not in already:
                progress.warn(str(doubt))
        findings = conclude(prepared, everyone)
        for notice in excluded_notices(Run(folder, store), findings):
            progress.warn(notice)
        if execution.report:
            add_report_pictures(prepared, plan, store, everyone, findings)
        run = Run(folder, store)
        write_findings(run, findings, doubts)
        if execution.conditions:
            write_gate(run, decide(execution.conditions, RunSide(run), undecided=execution.undecided))
        if execution.report:
            write_reports(run)
    return Run(folder)  # without the tables in memory


def _first_looks(
    prepared: Prepared, before: Mapping[str, Any], progress: RunProgress, execution: Execution
) -> EarlyDoubts:
    if not execution.first_look:
        return EarlyDoubts(preprocessing=before)
    return FirstLooks(execution.cluster is not None, execution.shard_timeout).at_all(prepared, before, progress)


def ask_missing(
    prepared: Prepared, plan: Plan, store: Store, facts: dict[str, Any], progress: RunProgress, execution: Execution
) -> None:
    """Ask what the store lacks and store it; the batch size that a resumed run should use goes into the run's facts, and what was
    asked of web services."""
    data = prepared.inputs.data
    here = plan.open_trials or plan.open_searches or plan.open_surveys  # what runs on this machine
    if plan.passes or here or not store.files("cells"):
        facts["engine"] = "local" if execution.cluster is None else "ray"
        store.write_facts(facts)
        everything = (*plan.cells, *plan.trials, *plan.searches, *plan.surveys)
        store.add_cells(bound.row(data[bound.cell.on], plan.settings) for bound in everything)
    for key, request in plan.every_map.items():
        store.begin_map(key, request.row())
    models = [subject.loaded for subject in prepared.inputs.subjects if subject.loaded is not None]
    try:
        with counting_requests(models, store.folder):
            _ask(prepared, plan, store, facts, progress, execution)
        check_failures(store, (*plan.cells, *plan.maps), data)
    except TooManyFailures:
        discard_failures(store)
        store.write_facts({**facts, **store.inventory()})
        raise
    except BudgetSpent as spent:
        raise _stopped(spent, prepared) from None
    if sent := requests_so_far(prepared.inputs, store.folder):
        facts["services"] = sent
    store.write_facts({**facts, **store.inventory()})


def _stopped(spent: BudgetSpent, prepared: Prepared) -> UserError:
    """The error of a run whose budget is spent: what is left, and how it goes on."""
    plans = service_plans(prepared.inputs, replace(prepared, fresh=False).plan(), prepared.folder)
    left = sum(plan.requests + plan.trial_requests_at_most for plan in plans)
    left = max(0, left - answers_kept(prepared.folder))
    return UserError(f"{spent}; {left:,} are left to ask: run the same command with a larger #budget=; it resumes")


def _ask(
    prepared: Prepared, plan: Plan, store: Store, facts: dict[str, Any], progress: RunProgress, execution: Execution
) -> None:
    """Ask cells and maps, then trials, searches and surveys."""
    from snellen.engine.ask.searches import run_searches
    from snellen.engine.ask.surveys import run_surveys
    from snellen.engine.ask.trials import run_trials

    if plan.passes:
        facts["settings"]["batch_size"] = _run_passes(prepared, plan, store, progress, execution)
    if execution.cluster is not None and (plan.open_trials or plan.open_searches or plan.open_surveys):
        progress.note("trials, searches and surveys run on this machine, not on the cluster")
    if plan.open_trials:
        facts["settings"]["batch_size"] = _watched(run_trials, prepared, plan, store, progress, execution)
    if plan.open_searches:
        _watched(run_searches, prepared, plan, store, progress, execution)
    if plan.open_surveys:
        _watched(run_surveys, prepared, plan, store, progress, execution)


def _run_passes(
    prepared: Prepared, plan: Plan, store: Store, progress: RunProgress, execution: Execution
) -> int | None:
    """Ask the passes that are left, here or on a cluster; the batch size that a resumed run should use."""
    inputs = prepared.inputs
    if execution.cluster is None:
        from snellen.engine.ask.local import run_local

        return run_local(plan, store, progress, inputs.pools, execution.shard_timeout)
    from snellen.engine.ask.cluster import run_cluster

    return run_cluster(plan, store, progress, inputs.pools, inputs.texts, execution.cluster)


def _watched(
    work: Callable[..., R], prepared: Prepared, plan: Plan, store: Store, progress: RunProgress, execution: Execution
) -> R:
    """Trials, searches or surveys that are missing, carried out on this machine, where no batch may take longer than a shard."""
    pools = prepared.inputs.pools
    if execution.shard_timeout is None:
        return work(plan, store, progress, pools)
    watchdog = Watchdog(execution.shard_timeout)
    with watchdog.watching():
        return work(plan, store, progress, pools, watchdog.feed)
