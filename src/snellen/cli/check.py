"""`snellen check`: whether a run keeps what is required of it, and is no worse than a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from snellen.check.request import CheckRequest
from snellen.cli.options import AsJson, Config, finish, takes
from snellen.settings_file import resolve
from snellen.terminal import show, show_json, tell

if TYPE_CHECKING:
    from snellen.engine.keep.gate_record import GateRecord, State


@takes(CheckRequest, arguments=("run",))
def check(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Hold a run against conditions and a baseline; exit code 1 where the gate is closed."""
    import msgspec

    from snellen.check.gatekeeper import hold

    request = resolve(CheckRequest, settings, config)
    record = hold(request)
    if json:
        show_json({**msgspec.to_builtins(record), "passed": record.passed})
    elif not request.quiet and record.outcomes:
        print_outcomes(record)
    elif request.quiet:
        tell_closed(record)
    finish(0 if record.passed else 1)


def print_outcomes(record: GateRecord) -> None:
    """A line for each condition and finding, those that fail last, and the verdict."""
    for state, _ in _COUNTED:
        for outcome in record.having(state):
            show(f"{state}: {outcome.condition}: {outcome.text}")
    for notice in record.notices:
        show(f"note: {notice}")
    counts = ", ".join(f"{len(record.having(state))} {word}" for state, word in _COUNTED)
    show(f"gate {'open' if record.passed else 'closed'}: {counts}")


def tell_closed(record: GateRecord) -> None:
    """What closes the gate, and nothing else."""
    for outcome in record.failures:
        word = "failed" if outcome.state == "fails" else outcome.state  # with --undecided fail these close it too
        tell(f"{word}: {outcome.condition}: {outcome.text}")


_COUNTED: tuple[tuple[State, str], ...] = (("holds", "held"), ("undecided", "undecided"), ("fails", "failed"))
