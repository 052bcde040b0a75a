"""Sweeps: what changes in what a model relies on when its training data change. A resumable loop over train and audit.

from snellen import sweep

found = sweep.variants("smallnet", train={"biased": "phantom:train?background_bias=1"}, test={…}, out="grid")
found.table()
"""

from __future__ import annotations

from snellen.sweep.amounts import amount
from snellen.sweep.grain import grain
from snellen.sweep.grid import variants
from snellen.sweep.methods import methods
from snellen.sweep.result import Sweep, load_sweep

__all__ = ["Sweep", "amount", "grain", "load_sweep", "methods", "variants"]
