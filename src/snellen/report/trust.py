"""Marks of trust: how a number's interference stands against chance and against mild noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Mark = Literal["flagged", "raised", "unclear", ""]
SIGNS: dict[str, str] = {"flagged": "▲", "raised": "△", "unclear": "?", "": ""}


def mark_of(trust: Mapping[str, Any] | None) -> Mark:
    """`flagged`: the DI is clearly above chance and above mild noise; `""`: clearly not.

    `raised`: above chance, but not clearly above mild noise: where mild noise itself pushes errors towards a class, this
    yardstick is lenient and an unflagged number is not cleared. `unclear`: it cannot be told from chance, nor cleared.
    Runs of before there were three states have no `state`; they had an interval that chance could be compared with.
    """
    if trust is None:
        return ""
    if trust["flagged"]:
        return "flagged"
    low, null95 = trust["low"], trust["null95"]
    if low is None or null95 is None:
        return ""
    if not trust.get("state"):
        return "raised" if low > null95 else ""
    if low > 0 and trust["published"] is not None and trust["published"] > null95:
        return "raised"
    return "unclear" if trust["state"] == "unclear" else ""


def apart(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    """Whether two 95% intervals are there and do not overlap."""
    ends = [one["low"], one["high"], two["low"], two["high"]]
    return None not in ends and (ends[0] > ends[3] or ends[2] > ends[1])
