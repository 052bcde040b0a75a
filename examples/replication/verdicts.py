"""Whether runs of ours agree with published ones: one rule, for any table of methods.

Both sides are a mean, a sample standard deviation over runs and a number of runs. Two methods are *told apart* where the 95%
interval of their difference (Welch's t) leaves out 0. A row of a table

- **disagrees** where two methods that both sides tell apart stand in the opposite order, or where no value fits the
  published one;
- **agrees** where every two methods that the paper tells apart are told apart here in the same order, and at least half of
  the values fit;
- **cannot be told** otherwise: also where the paper tells no methods apart, where a spread is missing, or where published
  values lie beyond the bound of their unit (for DI the number of classes).

A value fits where its 95% interval (t over the runs) overlaps the published one, or comes within a tenth of the published
value of it: where runs hardly vary, intervals tell apart values that are alike for every practical purpose.

A table disagrees where one of its rows does; it agrees where none does and more than half of its rows agree. The *ceiling* of
a table is how often it would agree if the truth were what is published (verdict_ceilings.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import Literal

from scipy.special import stdtrit

MARGIN = 0.1  # of the published value
AGREES, DISAGREES, OPEN = "agrees", "disagrees", "cannot be told"
LESS, MORE = "moves less", "moves more"
Move = Literal["moves less", "moves more", "cannot be told"]


@dataclass(frozen=True)
class Sample:
    """What `runs` runs gave: their mean and sample standard deviation (nan where it is not known)."""

    mean: float
    sd: float
    runs: int

    @property
    def is_usable(self) -> bool:
        return self.runs > 1 and math.isfinite(self.mean) and math.isfinite(self.sd)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% t interval of the mean over runs."""
        half = _student(self.runs - 1) * self.sd / math.sqrt(self.runs)
        return self.mean - half, self.mean + half


@dataclass(frozen=True)
class Verdict:
    """A word, and what it rests on: pairs of methods that the paper tells apart (in the same order here, in the opposite one,
    not told apart here), and values that fit of those compared."""

    word: str
    same: int = 0
    opposite: int = 0
    unclear: int = 0
    fitting: int = 0
    compared: int = 0
    reason: str = ""


def sample_of(values: Sequence[float]) -> Sample:
    """Mean and deviation of runs; nan where a run has no value, as iOcclusion of one without a gap."""
    if not values or not all(map(math.isfinite, values)):
        return Sample(math.nan, math.nan, len(values))
    return Sample(fmean(values), stdev(values) if len(values) > 1 else math.nan, len(values))


def order_of(one: Sample, two: Sample) -> int:
    """1 where the first is clearly higher, −1 where it is clearly lower, 0 where the two are not told apart."""
    parts = [one.sd**2 / one.runs, two.sd**2 / two.runs]
    difference, variance = one.mean - two.mean, sum(parts)
    if variance == 0:
        return (difference > 0) - (difference < 0)
    degrees = variance**2 / sum(part**2 / (side.runs - 1) for part, side in zip(parts, (one, two)))
    if abs(difference) <= _student(degrees) * math.sqrt(variance):
        return 0
    return 1 if difference > 0 else -1


def fits(ours: Sample, published: Sample, margin: float) -> bool:
    """Whether the intervals overlap, or come within the margin, a share of the published value, of each other."""
    (low, high), (other_low, other_high) = ours.interval, published.interval
    room = margin * abs(published.mean)
    return bool(low <= other_high + room and other_low - room <= high)


def _student(degrees: float) -> float:
    """The 97.5% quantile of Student's t."""
    return float(stdtrit(degrees, 0.975))


def verdict(
    ours: Mapping[str, Sample], published: Mapping[str, Sample], bound: float = math.inf, margin: float = MARGIN
) -> Verdict:
    """The verdict on one row, from method to sample; `bound` is the highest value that the unit allows."""
    if any(abs(one.mean) > bound for one in published.values()):
        return Verdict(OPEN, reason=f"published values exceed {bound:g}, the bound of their unit")
    methods = [name for name in published if name in ours and ours[name].is_usable and published[name].is_usable]
    if len(methods) < 2:
        return Verdict(OPEN, reason="fewer than two methods with a spread on both sides")
    same = opposite = unclear = 0
    for one, two in combinations(methods, 2):
        if wanted := order_of(published[one], published[two]):
            measured = order_of(ours[one], ours[two])
            same += measured == wanted
            opposite += measured == -wanted
            unclear += measured == 0
    fitting = sum(fits(ours[name], published[name], margin) for name in methods)
    if opposite or not fitting:
        word = DISAGREES
    elif same and not unclear and 2 * fitting >= len(methods):
        word = AGREES
    else:
        word = OPEN
    reason = "" if same + opposite + unclear else "the paper tells no two methods apart"
    return Verdict(word, same, opposite, unclear, fitting, len(methods), reason)


def of_table(words: Sequence[str]) -> str:
    """The verdict on a table, from those on its rows."""
    if DISAGREES in words:
        return DISAGREES
    return AGREES if 2 * words.count(AGREES) > len(words) else OPEN


def relative_move(one: float, two: float) -> float:
    """How far apart two values of a measure are, by their middle: 0.2 for 9 and 11."""
    middle = (one + two) / 2
    return abs(one - two) / middle if middle > 0 else math.nan


def compare_moves(first: Sequence[float], second: Sequence[float]) -> Move:
    """Whether the first measure moves less or more than the second, by the 95% t interval of the paired differences of runs."""
    differences = sample_of([one - two for one, two in zip(first, second, strict=True)])
    if not differences.is_usable:
        return OPEN
    low, high = differences.interval
    return LESS if high < 0 else MORE if low > 0 else OPEN


def judge_claim(moves: Sequence[Move]) -> Literal["holds", "does not hold", "cannot be told"]:
    """Whether a measure moves less than another: refuted by one clear case, held up by more than half clear cases."""
    if MORE in moves:
        return "does not hold"
    return "holds" if 2 * moves.count(LESS) > len(moves) else OPEN
