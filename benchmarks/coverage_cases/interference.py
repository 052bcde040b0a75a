"""Data interference: whether the interval holds the true index, and whether the estimate is near it."""

from __future__ import annotations

from statistics import fmean, median

from coverage_cases._pulled_errors import CASES, CLASSES, true_index
from coverage_cases.row import Row, median_error
from snellen.measure import interference

PULLS = (0.0, 0.1, 0.2, 0.3)


PARTS = len(CASES) * len(PULLS)


def rows(simulations: int, seed: int, part: int) -> list[Row]:
    case, pull = CASES[part // len(PULLS)], PULLS[part % len(PULLS)]
    number = case.simulations(simulations)
    measured = [
        interference(clean, distorted, labels, CLASSES, seed=draw)
        for draw, (labels, clean, distorted) in enumerate(case.data_sets((pull,), number, seed))
    ]
    truth, name = true_index(pull), f"{100 * pull:.0f}% of errors pulled to one class; {case}"
    covered = fmean(one.low <= truth <= one.high for one in measured)
    paper, values = fmean(one.index for one in measured), [one.value for one in measured]
    return [
        Row("DI: interval", name, "95% of intervals hold it", covered, 0.93, 1.0, number),
        Row(
            "DI: estimate", name, f"median is {truth:.1f} (as published, mean: {paper:.2f})", median(values),
            max(0.0, truth - 0.15), truth + 0.15, number, "number", median_error(values),
        ),
    ]  # fmt: skip
