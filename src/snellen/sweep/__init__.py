"""Sweeps: what changes in what a model relies on when its training data change. A resumable loop over train and audit.

from snellen import sweep

grid = sweep.variants("smallnet", train={"biased": "phantom:train?background_bias=1"}, test={…}, out="grid")
grid.table()
"""

from __future__ import annotations

from snellen.lazy_names import finder, lister

# Names come from their modules on first use: the command line reads this package before it knows what is asked of it.
_HOMES = {
    "Matrix": "snellen.sweep.matrix_table",
    "Sweep": "snellen.sweep.result",
    "amount": "snellen.sweep.by_amount",
    "domains": "snellen.sweep.by_domain",
    "grain": "snellen.sweep.by_grain",
    "load_matrix": "snellen.sweep.matrix_table",
    "load_sweep": "snellen.sweep.result",
    "matrix": "snellen.sweep.by_matrix",
    "methods": "snellen.sweep.by_method",
    "variants": "snellen.sweep.by_variant",
}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
