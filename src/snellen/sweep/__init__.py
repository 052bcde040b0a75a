"""Sweeps: what changes in what a model relies on when its training data change. A resumable loop over train and audit.

from snellen import sweep

grid = sweep.variants("smallnet", train={"biased": "phantom:train?background_bias=1"}, test={…}, out="grid")
grid.table()
"""

from __future__ import annotations

import importlib
from typing import Any

# Names come from their modules on first use: the command line reads this package before it knows what is asked of it.
_HOMES = {
    "Sweep": "result",
    "amount": "by_amount",
    "domains": "by_domain",
    "grain": "by_grain",
    "load_sweep": "result",
    "methods": "by_method",
    "variants": "by_variant",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"snellen.sweep.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'snellen.sweep' has no attribute '{name}'")


__all__ = ["Sweep", "amount", "domains", "grain", "load_sweep", "methods", "variants"]
