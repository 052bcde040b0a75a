"""Numbers and distortions as people read them; what is not known is a dash, never 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeGuard

from snellen.audits.facts import UnsetType
from snellen.distort.language import VARIANTS, covering, in_words, masked_by

__all__ = [
    "UNKNOWN",
    "VARIANTS",
    "beside_even",
    "covering",
    "in_unit",
    "in_words",
    "index",
    "interval",
    "is_known",
    "join_words",
    "masked_by",
    "number",
    "percent",
    "points",
    "signed_index",
    "spread",
]  # fmt: skip

UNKNOWN = "–"


def is_known(value: float | UnsetType | None) -> TypeGuard[float]:
    """Whether there is a number at all (nan is stored as null, and a fact may not be set)."""
    return isinstance(value, int | float) and math.isfinite(value)


def percent(value: float | None, digits: int = 1) -> str:
    """A share in percent: 0.927 is `92.7%`."""
    return f"{_with_minus(f'{100 * value:.{digits}f}')}%" if value is not None and math.isfinite(value) else UNKNOWN


def points(value: float | None) -> str:
    """A difference of shares in signed percentage points: −0.074 is `−7.4 points`."""
    return f"{_signed(value)} points" if value is not None and math.isfinite(value) else UNKNOWN


def index(value: float | None) -> str:
    """An index such as DI, to two decimals."""
    return _with_minus(f"{value:.2f}") if value is not None and math.isfinite(value) else UNKNOWN


def number(value: float | None) -> str:
    """A count: `1,200`, or `12.5` where it is a mean over runs."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return _with_minus(f"{value:,.0f}" if value == round(value) else f"{value:,.1f}")


def signed_index(value: float | None) -> str:
    """A difference of indices or counts with its sign, whole numbers without decimals: `−4`, `+1.25`."""
    if value is None or not is_known(value):
        return UNKNOWN
    return _with_minus(f"{value:+.0f}" if value == int(value) else f"{value:+.2f}")


def in_unit(value: float | None, unit: str) -> str:
    """A finding's value in its unit."""
    return {"share": percent, "difference": points, "count": number}.get(unit, index)(value)


def spread(std: float | None, unit: str) -> str:
    """The deviation over runs behind a value, ` ± 0.4`; nothing for a single run, which shows none."""
    if std is None or not is_known(std):
        return ""
    return f" ± {100 * std:.1f}" if unit in ("share", "difference") else f" ± {std:.2f}"


def interval(low: float | None, high: float | None, unit: str) -> str:
    """A 95% interval without its unit: `91.5–93.8`, `0.43–∞` where it has no upper end; a dash where there is none."""
    if low is None or not is_known(low):
        return UNKNOWN
    scale, digits = (100, 1) if unit == "share" else (1, 2)
    if high is None or not is_known(high):
        return f"{scale * low:.{digits}f}–∞"
    if unit == "difference":
        return f"{_signed(low)} to {_signed(high)}"
    between = "–" if low >= 0 else " to "  # a dash beside a minus reads as one
    return _with_minus(f"{scale * low:.{digits}f}{between}{scale * high:.{digits}f}")


def beside_even(low: float | None, high: float | None, even: float | UnsetType | None) -> str:
    """The interval of a share of maps, and whether it is above or below that of an even map."""
    rank = "not told apart from"
    known = even if is_known(even) else None
    if known is not None:
        above, below = is_known(low) and low > known, is_known(high) and high < known
        rank = "more than" if above else "less than" if below else rank
    return f"(95% interval {interval(low, high, 'share')}%), {rank} the {percent(known)} of an even map."


def count_of(count: int, thing: str, things: str = "") -> str:
    """`1 run`, `1,200 images`, `2 classes`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def join_words(things: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(things[:-1]), things[-1]] if len(things) > 1 else list(things))


def _signed(value: float) -> str:
    return _with_minus(f"{100 * value:+.1f}")


def _with_minus(number: str) -> str:
    """A number with a real minus sign."""
    return number.replace("-", "−")
