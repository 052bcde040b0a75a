"""The conditions that matter for a model: of each kind of distortion one, those first that may be taken for a class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from snellen.audits.exam import YARDSTICK
from snellen.audits.run_facts import RunFacts
from snellen.audits.shift_facts import TransferFacts, WorstEditsFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.results import Results
from snellen.report.table import CLEAN
from snellen.report.words import in_words, is_known

MOST = 5  # conditions beside the unmodified images
PER_AUDIT = 2  # of them of one audit, as long as others have some
WORST = "the worst edits that were found"
NUMBERS = re.compile(r"\d[\d.]*")

Accuracy = StoredFinding[RunFacts]


@dataclass(frozen=True)
class Condition:
    """An accuracy of a model under one distortion."""

    accuracy: Accuracy

    @property
    def on(self) -> str:
        """The images that were distorted, by their role."""
        return self.accuracy.on or "test"

    @property
    def distortion(self) -> str:
        """The text form of the distortion; of the worst edits that of the first run's."""
        facts = self.accuracy.facts
        return facts.edits[0] if isinstance(facts, WorstEditsFacts) else self.accuracy.distortions[0]

    @property
    def words(self) -> str:
        """The distortion in words."""
        return WORST if isinstance(self.accuracy.facts, WorstEditsFacts) else in_words(self.distortion)

    @property
    def kind(self) -> tuple[str, ...]:
        """What it has in common with milder and harder ones: the distortion's text without its numbers."""
        return (self.on, self.accuracy.audit, NUMBERS.sub("#", self.distortion))

    @property
    def value(self) -> float:
        """The accuracy."""
        return self.accuracy.value or 0.0

    @property
    def flagged(self) -> bool:
        """Whether the distortion itself may be taken for a class."""
        return self.accuracy.interference is not None and self.accuracy.interference.mark == "flagged"


def conditions_of(results: Results, model: str) -> list[Condition]:
    """The conditions that matter, flagged ones first, then by accuracy, the lowest first.

    Of the sizes of one kind it is the mildest under which less than half of the clean accuracy is left, else the hardest; where
    some are flagged, only those count.
    """
    clean = results.clean(model)
    half = (clean.value or 0.0) / 2 if clean else 0.0
    kinds: dict[tuple[str, ...], list[Condition]] = {}
    for finding in results.having(RunFacts):
        if finding.model == model and _is_condition(finding):
            condition = Condition(finding)
            kinds.setdefault(condition.kind, []).append(condition)
    every = [_telling(sizes, half) for sizes in kinds.values()]
    every.sort(key=lambda condition: (not condition.flagged, condition.value))
    return _of_several_audits(list({condition.distortion: condition for condition in reversed(every)}.values())[::-1])


def _is_condition(finding: Accuracy) -> bool:
    """Whether a finding is an accuracy under one distortion of test images, of which higher is better."""
    if not is_known(finding.value) or finding.unit != "share" or finding.better != "higher":
        return False
    if isinstance(finding.facts, WorstEditsFacts):
        return True
    if finding.on in ("", "train") or len(finding.distortions) != 1 or isinstance(finding.facts, TransferFacts):
        return False
    return finding.distortions[0] not in (CLEAN, str(YARDSTICK))


def _telling(sizes: Sequence[Condition], half: float) -> Condition:
    flagged = [condition for condition in sizes if condition.flagged]
    mildest_first = sorted(flagged or sizes, key=lambda condition: -condition.value)
    return next((condition for condition in mildest_first if condition.value < half), mildest_first[-1])


def _of_several_audits(conditions: Sequence[Condition]) -> list[Condition]:
    """At most so many, not more than two of one audit unless there are no others; in their order."""
    counts: dict[str, int] = {}
    early: list[Condition] = []
    late: list[Condition] = []
    for condition in conditions:
        audit = condition.accuracy.audit
        counts[audit] = counts.get(audit, 0) + 1
        (early if counts[audit] <= PER_AUDIT else late).append(condition)
    chosen = [*early, *late][:MOST]
    return [condition for condition in conditions if condition in chosen]
