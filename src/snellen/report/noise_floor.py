"""What a service's own noise means for its numbers: which of its losses are no larger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.audits.noise_floor import NoiseFloorFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.results import AnyFinding, Results
from snellen.report.words import count_of, interval, is_known, percent, points

if TYPE_CHECKING:
    from snellen.report.losses import Loss


def noise_note(results: Results, finding: AnyFinding) -> str:
    """What stands beside an accuracy of a model that was asked several times: how far it differs from another by noise alone;
    empty beside other findings and those of other numbers of images."""
    floor = _floor(results, finding.model)
    if floor is None or not is_known(noise := floor.facts.accuracy_noise) or not finding.name.endswith("accuracy"):
        return ""
    return f"up to {points(noise).removeprefix('+')} by noise alone" if finding.n == floor.n else ""


def _floor(results: Results, model: str) -> StoredFinding[NoiseFloorFacts] | None:
    return next((own for own in results.having(NoiseFloorFacts) if own.model == model), None)


def noise_sentence(results: Results, model: str, every: Sequence[Loss]) -> str:
    """How far a model differs from itself, and which losses are within that; empty where it was asked once."""
    floor = _floor(results, model)
    if floor is None or not is_known(floor.value) or not is_known(noise := floor.facts.accuracy_noise):
        return ""
    sentence = (
        f"Asked {floor.facts.repeats} times about the same pixels, it contradicts itself in {percent(floor.value)} of pairs of "
        f"answers (95% interval {interval(floor.low, floor.high, 'share')}%); two of its accuracies differ by up to "
        f"{points(noise).removeprefix('+')} by that alone."
    )
    within = [loss for loss in every if abs(loss.value) <= noise]
    if within:
        are = "is" if len(within) == 1 else "are"
        sentence += f" {len(within)} of {count_of(len(every), 'change')} {are} no larger: {_named(within)}."
    return sentence


def _named(losses: Sequence[Loss]) -> str:
    """The topics of some losses, the first three by name."""
    names = list(dict.fromkeys(loss.finding.topic for loss in losses))
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
