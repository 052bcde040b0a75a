"""What a report shows of one audit. Every part is optional; an audit without a section has its rows in the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from snellen.report.blocks import Badge, Block, Line
from snellen.report.results import AnyFinding, Results
from snellen.report.table import di_badge

SPREAD_FROM = 4  # models from which a headline gives the lowest and the highest alone


@dataclass(frozen=True)
class Section:
    """`blocks` are shown in the chapter of the audit, above the table of its findings; nothing without the audit.

    `headline` is the name of the finding that the closed chapter tells of each model, or a function that writes the line;
    without it, it is the finding of the first column.
    `verdict` gives (term, sentence) pairs about one model; sentences of one term, of whichever audits, stand together.
    `columns` says which findings are columns of the table that sets models side by side: name of the column → whether a
    finding belongs there. Audits that give the same name share a column, and the first finding that fits is shown.
    `elsewhere` names the findings that the blocks show, so that the table of findings need not; `last` those that end
    their group in it. `badge` is what stands at the number of a finding, `meanings` explain the terms it uses. `published`
    are the published values beside those of the run, which end the chapter.
    """

    blocks: Callable[[Results], list[Block]] = lambda results: []
    headline: str | Callable[[Results], Line] = ""
    verdict: Callable[[Results, str], list[tuple[str, str]]] = lambda results, model: []
    columns: Mapping[str, Callable[[AnyFinding], bool]] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()
    last: frozenset[str] = frozenset()
    badge: Callable[[AnyFinding], Badge | None] = di_badge
    losses: Callable[[AnyFinding], bool] = lambda finding: False
    effects: frozenset[str] = frozenset()
    meanings: Mapping[str, str] = field(default_factory=dict)
    published: Callable[[Results], list[Block]] = lambda results: []
