"""What decides a run: its recipe and the fingerprints of what goes into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snellen.train.recipe import differing


def difference(made: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """The first thing in which two runs differ, for people; None where they are the same.

    Both hold `recipe`, `data`, `fingerprint`, `holdout`, and `partner`, `init` and `groups` (fingerprints) where there is one.
    """
    settings = differing(made.get("recipe", {}), wanted["recipe"])
    if settings:
        return settings
    if made.get("fingerprint") != wanted["fingerprint"]:
        return f"data '{made.get('data')}' {made.get('fingerprint')} ≠ '{wanted['data']}' {wanted['fingerprint']}"
    for name in ("holdout", "partner", "init", "groups"):
        before, now = made.get(name) or None, wanted.get(name) or None
        if before != now:
            return f"{name} {before or 'none'} ≠ {now or 'none'}"
    return None
