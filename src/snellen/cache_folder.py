"""Where snellen keeps what it remembers between runs."""

from __future__ import annotations

import os
from pathlib import Path

from snellen.files import expand_home


def snellen_home() -> Path:
    """`SNELLEN_HOME`, else `snellen` in the user's cache folder (`XDG_CACHE_HOME` is respected)."""
    if home := os.environ.get("SNELLEN_HOME"):
        return expand_home(home)
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return expand_home(cache) / "snellen"
