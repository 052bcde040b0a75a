"""The one door of a check: `snellen.gate(...)` and `snellen check` make a request, and `hold` decides and writes."""

from __future__ import annotations

from typing import Any

import msgspec

from snellen.atomic import write_atomic
from snellen.check.baseline_file import read_baseline, write_baseline
from snellen.check.changes import Changes
from snellen.check.deciding import decide
from snellen.check.junit import to_junit
from snellen.check.request import CheckRequest
from snellen.check.run_side import RunSide
from snellen.check.side import GateSide
from snellen.check.summary import to_markdown
from snellen.engine.keep.gate_record import GateRecord
from snellen.engine.keep.run_folder import RunFolder, open_run
from snellen.files import expand_home
from snellen.files.places import exists, is_file
from snellen.lock import writer_lock
from snellen.settings_file import door


def hold(request: CheckRequest) -> GateRecord:
    """What came of the conditions on a run: of each whether it holds, fails or is undecided, in `outcomes`; `passed` in all.

    `run` and `baseline` are folders, or runs; a baseline may also be a file that `write_baseline` wrote. A condition that fails
    raises nothing.

    >>> from snellen import audit, gate
    >>> _ = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> record = gate("runs/first", require=["accuracy > 0.9"], quiet=True)
    >>> record.passed, [outcome.state for outcome in record.outcomes]
    (True, ['holds'])
    """
    folder = _folder(request.run)
    run = RunSide(folder)
    changes = None
    if request.baseline is not None:
        changes = Changes(run, _side(request.baseline), request.margin, request.unpaired)
    record = decide(request.conditions, run, changes, request.undecided)
    if request.report and record.outcomes:
        keep_record(folder, record)
    if request.junit is not None:
        write_atomic(expand_home(request.junit), to_junit(record, str(folder.path)).encode())
    if request.markdown is not None:
        write_atomic(expand_home(request.markdown), to_markdown(record, str(folder.path)).encode())
    if request.write_baseline is not None:
        write_baseline(run, expand_home(request.write_baseline))
    return record


gate = door(hold, CheckRequest, "run", "baseline", "require", name="gate")


def keep_record(folder: RunFolder, record: GateRecord) -> None:
    """Write what a gate required into findings.json, and again the reports that are there."""
    from snellen.report import write_gate, write_report

    with writer_lock(folder.path):
        write_gate(folder, record)
        for name in ("report.html", "report.md"):
            if exists(folder.path / name):
                write_report(folder, folder.path / name)


def gate_of(folder: RunFolder) -> GateRecord | None:
    """What was last required of a run; None where nothing was."""
    content = folder.results().get("gate")
    return None if content is None else msgspec.convert(content, GateRecord)


def _folder(run: Any) -> RunFolder:
    return run if isinstance(run, RunFolder) else open_run(run)


def _side(baseline: Any) -> GateSide:
    if not isinstance(baseline, RunFolder) and is_file(expand_home(baseline)):
        return read_baseline(expand_home(baseline))
    return RunSide(_folder(baseline))
