"""Training against shifts of Volpi & Murino (2019, section 4): tuples of edits, drawn at random (RDA) or searched for where the
network does worst (RSDA, ESDA).

    --robust 'rda(set=cifar10, length=5)'
    --robust 'esda(set=cifar10, length=5, every=5, images=2000)'
"""

from __future__ import annotations

from snellen.lazy_names import finder, lister

_HOMES = {
    "Esda": "snellen.train.shift.ways",
    "Rda": "snellen.train.shift.ways",
    "Rsda": "snellen.train.shift.ways",
    "tuple_set": "snellen.train.shift.tuple_set",
}

__all__ = [*_HOMES]
__getattr__ = finder(__name__, _HOMES)
__dir__ = lister(__all__)
