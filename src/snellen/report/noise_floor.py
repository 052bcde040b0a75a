"""What a service's own noise means for its numbers: which of its losses are no larger."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.audits.noise_floor import NoiseFloorFacts
from snellen.report.losses import Loss
from snellen.report.results import Results
from snellen.report.words import count_of, interval, is_known, percent, points


def noise_sentence(results: Results, model: str, every: Sequence[Loss]) -> str:
    """How far a model differs from itself, and which losses are within that; empty where it was asked once."""
    floor = next((own for own in results.having(NoiseFloorFacts) if own.model == model), None)
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
