"""What a gate required of a run and what came of it, as findings.json keeps it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

State: TypeAlias = Literal["holds", "fails", "undecided"]
Undecided: TypeAlias = Literal["fail", "pass", "warn"]


class OutcomeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one condition for one finding.

    `value`, `low` and `high` are of what was held against the `bound`: the finding, or its change since the baseline. `p` is the
    one-sided p-value that it fails, `p_corrected` that after Holm's correction; null where the value alone decided. `needed` is
    how many images would decide it, `visible` the smallest change beyond the bound that would have failed in 80% of cases.
    `paired` says whether a change rests on the same images.
    """

    condition: str
    finding: str
    model: str
    label: str
    state: State
    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    unit: Literal["share", "index", "difference", "count", ""] = ""
    p: float | None = None
    p_corrected: float | None = None
    needed: int | None = None
    visible: float | None = None
    paired: bool | None = None


class BaselineRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a run was compared with: where it is, its version, and how many test images both have."""

    source: str
    created: str
    snellen: str
    shared: dict[str, int] = {}


class GateRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All that a gate required, what came of it, and over how many tests failures were corrected."""

    require: list[str]
    undecided: Undecided
    tests: Annotated[int, msgspec.Meta(ge=0)]
    outcomes: list[OutcomeRecord]
    baseline: BaselineRecord | None = None
    notices: list[str] = []

    def having(self, state: State) -> list[OutcomeRecord]:
        """The outcomes of one state."""
        return [outcome for outcome in self.outcomes if outcome.state == state]

    @property
    def failures(self) -> list[OutcomeRecord]:
        """What closes the gate: what fails and, where that was chosen, what is undecided."""
        return [*self.having("fails"), *(self.having("undecided") if self.undecided == "fail" else ())]

    @property
    def passed(self) -> bool:
        """Whether the gate is open."""
        return not self.failures
