"""The values of the section of worst-case edits: what was found for each model."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.audits.run_facts import PixelFacts
from snellen.audits.shift_facts import RandomEditsFacts, WorstEditsFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.results import AnyFinding, Results
from snellen.report.words import is_known


@dataclass(frozen=True)
class ModelSearch:
    """What was found for one model: under the worst edits, clean, among random tuples and by the search itself."""

    worst: StoredFinding[WorstEditsFacts]
    clean: StoredFinding[PixelFacts] | None
    random: StoredFinding[RandomEditsFacts] | None
    searched: AnyFinding | None
    drop: AnyFinding | None = None

    @property
    def model(self) -> str:
        return self.worst.model

    @property
    def clean_beside(self) -> float | None:
        """The clean accuracy on the images that the worst edits are reported on."""
        if self.drop is None or self.drop.value is None or self.worst.value is None:
            return None if self.clean is None else self.clean.value
        return self.worst.value + self.drop.value

    @property
    def lowest(self) -> float | None:
        """The lowest accuracy of all that was tried on the images that were searched, by search and at random."""
        values = [finding.value for finding in (self.searched, self.random) if finding and is_known(finding.value)]
        return min((value for value in values if value is not None), default=None)


def searches_of(results: Results) -> list[ModelSearch]:
    """What was found for each model whose accuracy under the worst edits is known."""
    worst = [finding for finding in results.having(WorstEditsFacts) if is_known(finding.value)]
    random = {finding.model: finding for finding in results.having(RandomEditsFacts) if is_known(finding.value)}
    searched = {finding.model: finding for finding in results.of_audit("shift") if finding.name == "searched_worst"}
    drops = {finding.model: finding for finding in results.of_audit("shift") if finding.name == "worst_drop"}
    return [
        ModelSearch(
            finding,
            results.clean(finding.model),
            random.get(finding.model),
            searched.get(finding.model),
            drops.get(finding.model),
        )
        for finding in worst
    ]
