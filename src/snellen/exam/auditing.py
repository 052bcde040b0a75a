"""The one door of an audit: `snellen.audit(...)` and `snellen audit` make a request, and `examine` does what it asks."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

from snellen.check.gatekeeper import gate_of
from snellen.data import given_data
from snellen.engine import RunProgress
from snellen.engine.ask.watchdog import watch
from snellen.engine.settings import Cluster
from snellen.exam.carry_out import Execution, carry_out
from snellen.exam.conditions import RequirementFailed, check_names
from snellen.exam.outline import Outline, outline_of
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.exam.run import Run
from snellen.exam.temporary_run import TemporaryRun
from snellen.files import expand_home
from snellen.offline import offline
from snellen.request import describe, signature_of
from snellen.settings_file import resolve, write_settings


@overload
def audit(
    models: Any = ...,
    data: Any = ...,
    audits: Any = ...,
    out: Path | str | None = ...,
    engine: str | None = ...,
    *,
    dry_run: Literal[True],
    **settings: Any,
) -> Outline: ...
@overload
def audit(
    models: Any = ...,
    data: Any = ...,
    audits: Any = ...,
    out: Path | str | None = ...,
    engine: str | None = ...,
    **settings: Any,
) -> Run: ...
def audit(
    models: Any = None, data: Any = None, audits: Any = None, out: Path | str | None = None, engine: str | None = None,
    **settings: Any,
) -> Run | Outline:  # fmt: skip
    config = settings.pop("config", None)
    by_position = {"models": models, "data": data, "audits": audits, "out": out, "engine": engine}
    values = given_data({**by_position, **settings}, "data", "train", "donors")
    return examine(resolve(AuditRequest, values, None if config is None else expand_home(config)))


def _signature() -> inspect.Signature:
    """The settings of a request, and `config`, a file of them."""
    settings = signature_of(AuditRequest, ("models", "data", "audits", "out", "engine"))
    config = inspect.Parameter("config", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = [
        parameter.replace(default=inspect.Parameter.empty) if parameter.name in ("models", "data") else parameter
        for parameter in settings.parameters.values()
    ]
    return inspect.Signature([*parameters, config], return_annotation=Run)


audit.__signature__ = _signature()  # type: ignore[attr-defined]
audit.__doc__ = f"""Ask the models, conclude, and leave a run folder with findings and a report.

Models may be texts, models, torch modules, callables, lists of these, or a dictionary from names to one or several (several
are runs of one model); data a text, a Dataset, or a dataset or loader of torch; audits texts or audits. Without `out` the run
lasts as long as the Run that is returned; `Run.keep(path)` keeps it. `dry_run` returns the outline of the plan and writes
nothing. A condition of `require` that fails raises RequirementFailed, which holds the run. Settings that are not given come
from `config`, a YAML file.

>>> from snellen import audit
>>> run = audit("observer:texture", "phantom:test?size=32&n=24", "occlusion", out="runs/first", quiet=True)
>>> found = run.findings()
>>> bool(found.value.notna().any())
True

Settings:
{describe(AuditRequest)}
    config: settings from a YAML file, such as the settings.yaml of a run; what is given here wins
"""


def examine(request: AuditRequest, command: Sequence[str] = ()) -> Run | Outline:
    """Do what a request asks: the run with its findings, or for a dry run the outline of the plan."""
    return outline(request) if request.dry_run else run_audit(request, command)


def outline(request: AuditRequest) -> Outline:
    """What an audit would do; nothing is written."""
    check_names(request.conditions, request)
    with offline(request.offline), tempfile.TemporaryDirectory(prefix="snellen-") as nowhere:
        prepared = prepare(replace(request, out=request.out or Path(nowhere)))
        with watch(request.shard_timeout, "timing the models"):
            return outline_of(prepared, request.out)


def run_audit(request: AuditRequest, command: Sequence[str] = ()) -> Run:
    """The run of an audit, with findings and report; RequirementFailed where a condition does not hold."""
    check_names(request.conditions, request)
    with offline(request.offline):
        if request.out is not None:
            return _run(request, Run(request.out), command)
        run = TemporaryRun()
        try:
            return _run(request, run, command)
        except RequirementFailed:
            raise  # it holds the run
        except BaseException:
            run.remove()
            raise


def _run(request: AuditRequest, run: Run, command: Sequence[str]) -> Run:
    progress = RunProgress(request.quiet)
    prepared = prepare(replace(request, out=run.path))
    for notice in prepared.notices:
        progress.note(notice)
    carry_out(prepared, progress, _execution(request, command))
    write_settings(run.path / "settings.yaml", request)
    if isinstance(run, TemporaryRun):
        progress.note("this run is temporary; keep it with run.keep('runs/name'), or pass out='runs/name'")
    if request.conditions:
        _require(run, progress)
    return run


def _require(run: Run, progress: RunProgress) -> None:
    """Raise RequirementFailed where the gate is closed, and tell what it left undecided."""
    record = gate_of(run)
    assert record is not None
    if record.undecided == "warn":
        for outcome in record.having("undecided"):
            progress.warn(f"undecided: {outcome.condition}: {outcome.text}")
    if not record.passed:
        raise RequirementFailed(run, [f"{outcome.condition}: {outcome.text}" for outcome in record.failures])


def _execution(request: AuditRequest, command: Sequence[str]) -> Execution:
    cluster = None
    if request.engine == "ray":
        wide = {name: getattr(request, name) for name in ("address", "actors", "cpus_per_actor", "shard_timeout")}
        cluster = Cluster(**{name: value for name, value in wide.items() if value is not None})
    return Execution(
        cluster=cluster,
        shard_timeout=request.shard_timeout,
        strict=request.strict,
        report=request.report,
        conditions=request.conditions,
        undecided=request.undecided,
        command=command,
    )
