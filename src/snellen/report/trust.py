"""Marks of trust: how a number's interference stands against chance and against mild noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Mark = Literal["flagged", "raised", ""]
SIGNS: dict[str, str] = {"flagged": "▲", "raised": "△", "": ""}


def mark_of(trust: Mapping[str, Any] | None) -> Mark:
    """`flagged`: the finding is flagged (DI above chance and above mild noise).

    `raised`: the whole interval of the DI lies above chance, but the DI is not above that of mild noise: where mild
    noise itself pushes errors towards a class, this yardstick is lenient and an unflagged number is not cleared.
    """
    if trust is None:
        return ""
    if trust["flagged"]:
        return "flagged"
    low, null95 = trust["low"], trust["null95"]
    return "raised" if low is not None and null95 is not None and low > null95 else ""


def apart(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    """Whether two 95% intervals are there and do not overlap."""
    ends = [one["low"], one["high"], two["low"], two["high"]]
    return None not in ends and (ends[0] > ends[3] or ends[2] > ends[1])
