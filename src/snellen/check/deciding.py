"""The decision: evidence for every condition, failures corrected over all of them, and what came of each in words.

All conditions must hold for a gate to open. That each holds is therefore shown at its own level (an intersection–union test,
Berger 1982), while that any fails is corrected by Holm's rule over all tests: a run as good as required is turned away in at
most 5%.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Literal

from snellen.check.changes import Changes
from snellen.check.condition import Condition
from snellen.check.evidence import GateEvidence, level_evidence, settled
from snellen.check.matching import AnyFinding, attribute_of, matching
from snellen.check.pairing import groups_in
from snellen.check.run_side import RunSide
from snellen.engine.keep.gate_record import BaselineRecord, GateRecord, OutcomeRecord, State, Undecided
from snellen.errors import UserError, option
from snellen.measure.comparison import holm

LEVEL = 0.025  # one-sided, as the 95% intervals that are shown
MOST_IMAGES = 10_000_000  # more would not be asked


def decide(
    conditions: Sequence[Condition], run: RunSide, changes: Changes | None = None, undecided: Undecided = "warn"
) -> GateRecord:
    """What came of conditions on a run, and on its changes since a baseline.

    >>> from snellen.check import decide, parse_condition
    >>> from snellen import audit, load_run
    >>> from snellen.check.run_side import RunSide
    >>> run = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> decide([parse_condition("accuracy > 0.9")], RunSide(run)).passed
    True
    """
    about = [(condition, finding) for condition in conditions for finding in matching(condition, run.stored)]
    for condition in conditions:
        if condition.compares and changes is None:
            raise UserError(f"'{condition.text}' needs a baseline; run `snellen check RUN {option('baseline')} …`")
    if changes is not None:
        run.read_ahead([finding for finding in run.findings if finding.name in {cond.name for cond, _ in about}])
    evidence = [_evidence(condition, finding, run, changes) for condition, finding in about]
    tested = [own for own in evidence if own.settled is None]
    corrected = dict(zip(map(id, tested), holm([own.p_wrong for own in tested]).tolist()))
    return GateRecord(
        require=[condition.text for condition in conditions],
        undecided=undecided,
        tests=len(tested),
        outcomes=[_outcome(own, corrected.get(id(own)), len(tested)) for own in evidence],
        baseline=None if changes is None else _baseline(changes),
        notices=[] if changes is None else list(changes.notices()),
    )


def _evidence(condition: Condition, finding: AnyFinding, run: RunSide, changes: Changes | None) -> GateEvidence:
    if condition.kind == "level" and condition.attribute not in ("", "value"):
        return _of_attribute(condition, finding)
    if finding.value is None:  # a gate must not open because there was nothing to measure
        words = f"{finding.model} has {finding.name} not measured"
        return settled(condition, finding, words, "fails")
    if condition.compares:
        assert changes is not None
        return changes.evidence(condition, finding)
    return level_evidence(condition, finding, groups_in(run.listing(finding.on)))


def _of_attribute(condition: Condition, finding: AnyFinding) -> GateEvidence:
    value = attribute_of(finding, condition.attribute)
    name = f"{finding.name}.{condition.attribute}"
    if value is None or value == "":
        return settled(condition, finding, f"{finding.model} has {name} not measured", "fails")
    if isinstance(condition.bound, float) and isinstance(value, str):
        raise UserError(f"'{condition.text}': '{condition.attribute}' is the text '{value}', not a number")
    if isinstance(condition.bound, str) and isinstance(value, int | float) and not isinstance(value, bool):
        raise UserError(f"'{condition.text}': '{condition.attribute}' is the number {value:g}, not a text")
    shown = f"{value:.4g}" if isinstance(value, float) else str(value)
    words = f"{finding.model} has {name} {shown} ({finding.label})"
    return settled(condition, finding, words, "holds" if condition.met_by(value) else "fails")


def _outcome(own: GateEvidence, p_corrected: float | None, tests: int) -> OutcomeRecord:
    state = own.settled or _state(own, p_corrected)
    needed = own.needed(tests) if state == "undecided" and own.settled is None else float("nan")
    estimate = own.estimate
    measured = own.settled is None
    return OutcomeRecord(
        condition=own.condition.text,
        finding=own.finding.name,
        model=own.finding.model,
        label=own.finding.label,
        state=state,
        text=f"{own.words}{_because(own, state, p_corrected, needed, tests)}",
        value=_known(estimate.value) if measured else own.finding.value,
        low=_known(estimate.low) if measured else own.finding.low,
        high=_known(estimate.high) if measured else own.finding.high,
        n=estimate.n if measured else own.finding.n,
        unit=_unit(own),
        p=_known(own.p_wrong) if measured else None,
        p_corrected=None if p_corrected is None else _known(p_corrected),
        needed=_rounded(needed) if isfinite(needed) and needed < MOST_IMAGES else None,
        visible=None if own.drop is None else _known(own.drop(tests)),
        paired=own.paired,
    )


def _state(own: GateEvidence, p_corrected: float | None) -> State:
    if own.right and (own.paired is None or own.p_right < LEVEL):
        return "holds"
    if own.wrong and p_corrected is not None and p_corrected < LEVEL:
        return "fails"
    return "undecided"


def _because(own: GateEvidence, state: State, p_corrected: float | None, needed: float, tests: int) -> str:
    """What follows the numbers: why it could not be decided, or how sure a failure is."""
    if own.settled is not None:
        return f"; {own.reason}" if own.reason else ""
    if state == "fails":
        over = f" after Holm's correction over {tests} tests" if tests > 1 else ""
        return f"; p = {p_corrected:.2g}{over}"
    if state == "holds":
        return ""
    if isnan(needed):
        return ""
    if needed >= MOST_IMAGES:
        return "; it lies on the bound, so more images would not decide it"
    return f"; about {_rounded(needed):,} images would decide it"


def _rounded(images: float) -> int:
    """A number of images to two digits, upwards: it is an estimate."""
    digits = max(0, len(str(int(images))) - 2)
    return int(-(-images // 10**digits) * 10**digits)


def _unit(own: GateEvidence) -> Literal["share", "index", "difference", "count", ""]:
    if own.condition.attribute:
        return ""
    return "difference" if own.condition.compares and own.finding.unit == "share" else own.finding.unit


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)


def _baseline(changes: Changes) -> BaselineRecord:
    side = changes.baseline
    shared = {on: pairing.shared for on, pairing in changes.pairings.items()}
    return BaselineRecord(source=side.source, created=side.created, snellen=side.snellen, shared=shared)
