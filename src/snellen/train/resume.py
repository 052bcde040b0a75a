"""What decides a run: its recipe and the fingerprints of what goes into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snellen.train.recipe import differing


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """The first thing in which two runs differ, for people; None where they are the same.

    Both hold `recipe`, `data`, `fingerprint`, `holdout`, and `partner`, `init`, `groups`, `edit_set` and `start_set`
    (fingerprints) where there is one.
    """
    settings = differing(old.get("recipe", {}), new["recipe"])
    if settings:
        return settings
    if old.get("fingerprint") != new["fingerprint"]:
        return f"data '{old.get('data')}' {old.get('fingerprint')} ≠ '{new['data']}' {new['fingerprint']}"
    for name in ("holdout", "partner", "init", "groups", "edit_set", "start_set"):
        before, now = old.get(name) or None, new.get(name) or None
        if before != now:
            return f"{name} {before or 'none'} ≠ {now or 'none'}"
    return None
