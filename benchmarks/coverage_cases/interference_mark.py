"""The mark ▲ of data interference: how often it is raised without cause, and with.

Without cause: nothing is pulled, or mild noise pulls as much as the distortion does.
"""

from __future__ import annotations

from statistics import fmean

from coverage_cases._pulled_errors import CASES, CLASSES, Case
from coverage_cases.row import Row
from snellen.measure import chance_of, error_agreement, interference, interference_null, state_of

PULLS = ((0.0, 0.0), (0.2, 0.2), (0.1, 0.0), (0.2, 0.0), (0.3, 0.0))  # of the distortion and of mild noise
PARTS = len(CASES) * len(PULLS)


def states(case: Case, pulls: tuple[float, float], number: int, seed: int) -> list[str]:
    """Where the distortion stands in each simulated dataset."""
    found = []
    for draw, (labels, clean, distorted, mild) in enumerate(case.data_sets(pulls, number, seed)):
        index, yardstick = (interference(clean, each, labels, CLASSES, seed=draw) for each in (distorted, mild))
        agreement = error_agreement(distorted, labels, CLASSES)
        thrown = interference_null(clean, distorted, labels, CLASSES, agreement=agreement, repeats=400, seed=draw)
        found.append(state_of(index, yardstick, chance_of(index.index, thrown).p))
    return found


def rows(simulations: int, seed: int, part: int) -> list[Row]:
    """A third as many datasets as for intervals: each is measured twice and compared with chance."""
    case, pulls = CASES[part // len(PULLS)], PULLS[part % len(PULLS)]
    number = max(1, case.simulations(simulations) // 3)
    marked = states(case, pulls, number, seed)
    name = f"{100 * pulls[0]:.0f}% pulled by the distortion, {100 * pulls[1]:.0f}% by mild noise; {case}"
    above, cleared = (fmean(one == state for one in marked) for state in ("above", "not above"))
    stronger = pulls[0] > pulls[1]
    return [
        Row(
            "DI: mark",
            name,
            "▲ (power)" if stronger else "▲ (false alarms)",
            above,
            0.0,
            1.0 if stronger else 0.05,
            number,
        ),
        Row("DI: mark", name, "no mark (cleared)", cleared, 0.0, 0.05 if stronger else 1.0, number),
    ]
