"""Data interference where several classes rise alike, or nearly: whether the interval holds the true index."""

from __future__ import annotations

from statistics import fmean

from coverage_cases._pulled_errors import AGREEMENT, CLASSES, Case, true_index
from coverage_cases.row import Row
from snellen.measure import interference

PULLS = ((0.1, 0.1), (0.2, 0.2), (0.15, 0.12), (0.1, 0.1, 0.1), (0.08, 0.08, 0.08, 0.08, 0.08))
CASES = (Case(1_000, 1, 0.0), Case(1_000, 4, AGREEMENT), Case(1_000, 4, 0.0), Case(5_000, 3, 0.0))
PARTS = len(CASES) * len(PULLS)


def rows(simulations: int, seed: int, part: int) -> list[Row]:
    case, pull = CASES[part // len(PULLS)], PULLS[part % len(PULLS)]
    number, truth = max(1, simulations // 2), true_index(pull)
    measured = [
        interference(clean, distorted, labels, CLASSES, seed=draw)
        for draw, (labels, clean, distorted) in enumerate(case.data_sets((pull,), number, seed))
    ]
    covered = fmean(found.low <= truth <= found.high for found in measured)
    shares = ", ".join(f"{100 * share:.0f}%" for share in pull)
    name = f"{shares} of errors pulled to {len(pull)} classes; {case}: {truth:.2f}"
    promise = "the interval holds the truth at least 93% of the time"
    return [Row("DI: several classes rise", name, promise, covered, 0.93, 1.0, number)]
