"""The conditions that matter for a model: of each kind of modification one, those first that may be taken for a class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from snellen.audits.exam import YARDSTICK
from snellen.audits.run_facts import RunFacts
from snellen.audits.shift_facts import TransferFacts, WorstEditsFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.losses import UNMODIFIED
from snellen.report.results import AnyFinding, Results
from snellen.report.table import CLEAN
from snellen.report.words import in_words, is_known

MOST = 5  # conditions beside the unmodified images
PER_AUDIT = 2  # of them of one audit, as long as others have some
WORST = "the worst edits that were found"
NUMBERS = re.compile(r"\d[\d.]*")


@dataclass(frozen=True)
class PicturedCondition:
    """A model's `accuracy` under one modification of test images, and that on the same images unmodified."""

    accuracy: StoredFinding[RunFacts]
    clean: float

    @property
    def value(self) -> float:
        """That accuracy, 0 to 1."""
        return self.accuracy.value or 0.0

    @property
    def on(self) -> str:
        """The images that were modified, by their role."""
        return self.accuracy.on or "test"

    @property
    def distortion(self) -> str:
        """The text form of the distortion; of the worst edits that of the first run's."""
        facts = self.accuracy.facts
        return facts.edits[0] if isinstance(facts, WorstEditsFacts) else self.accuracy.distortions[0]

    @property
    def words(self) -> str:
        """The modification in words."""
        return WORST if isinstance(self.accuracy.facts, WorstEditsFacts) else in_words(self.distortion)

    @property
    def kind(self) -> tuple[str, ...]:
        """What it has in common with milder and harder ones: the distortion's text without its numbers."""
        return (self.on, self.accuracy.audit, NUMBERS.sub("#", self.distortion))

    @property
    def taken_for(self) -> str:
        """The class that the modification itself may be taken for; empty where it is not flagged."""
        trust = self.accuracy.interference
        return trust.taken_for if trust is not None and trust.mark == "flagged" else ""


def conditions_of(results: Results, model: str) -> list[PicturedCondition]:
    """The conditions that matter, flagged ones first, then by accuracy, the lowest first.

    Of the sizes of one kind it is the mildest under which less than half of the clean accuracy is left, else the hardest; where
    some are flagged, only those count.
    """
    kinds: dict[tuple[str, ...], list[PicturedCondition]] = {}
    for finding in results.having(RunFacts):
        if finding.model == model and _is_condition(finding) and (clean := _clean(results, finding)) is not None:
            condition = PicturedCondition(finding, clean)
            kinds.setdefault(condition.kind, []).append(condition)
    every = sorted(map(_telling, kinds.values()), key=lambda condition: (not condition.taken_for, condition.value))
    first: dict[tuple[str, str], PicturedCondition] = {}
    for condition in every:  # two audits may ask the same
        first.setdefault((condition.on, condition.distortion), condition)
    return _of_several_audits(list(first.values()))


def _is_condition(finding: StoredFinding[RunFacts]) -> bool:
    """Whether a finding is an accuracy under one modification of test images, of which higher is better."""
    if not is_known(finding.value) or finding.unit != "share" or finding.better != "higher" or finding.on == "train":
        return False
    if isinstance(finding.facts, WorstEditsFacts):
        return bool(finding.facts.edits)
    if len(finding.distortions) != 1 or isinstance(finding.facts, TransferFacts):
        return False
    return finding.distortions[0] not in (CLEAN, str(YARDSTICK))


def _clean(results: Results, finding: AnyFinding) -> float | None:
    """The accuracy on the same images unmodified: that of the same audit where it has one, else the clean accuracy."""
    own = (
        other for other in results.of_audit(finding.audit) if other.model == finding.model and other.name in UNMODIFIED
    )
    clean = next(own, None) or results.clean(finding.model, finding.on) or results.clean(finding.model)
    return clean.value if clean else None


def _telling(sizes: Sequence[PicturedCondition]) -> PicturedCondition:
    flagged = [condition for condition in sizes if condition.taken_for]
    mildest_first = sorted(flagged or sizes, key=lambda condition: -condition.value)
    halved = (condition for condition in mildest_first if condition.value < condition.clean / 2)
    return next(halved, mildest_first[-1])


def _of_several_audits(conditions: Sequence[PicturedCondition]) -> list[PicturedCondition]:
    """At most so many, not more than two of one audit unless there are no others; in their order."""
    counts: dict[str, int] = {}
    early: list[PicturedCondition] = []
    late: list[PicturedCondition] = []
    for condition in conditions:
        audit = condition.accuracy.audit
        counts[audit] = counts.get(audit, 0) + 1
        (early if counts[audit] <= PER_AUDIT else late).append(condition)
    chosen = [*early, *late][:MOST]
    return [condition for condition in conditions if condition in chosen]
