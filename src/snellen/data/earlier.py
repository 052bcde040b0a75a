"""What earlier versions of snellen said of the same files, so that sets which they built are known.

Where a rule changes, facts that follow from it change: fingerprints, names of classes. `earlier_rules` gives the former ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_earlier: ContextVar[bool] = ContextVar("earlier rules", default=False)


@contextmanager
def earlier_rules() -> Iterator[None]:
    """Describe data inside as before polygons were filled by COCO's rule, classes kept names that are not ASCII, and the facts
    of `build iruo` knew sizes and times of frames."""
    token = _earlier.set(True)
    try:
        yield
    finally:
        _earlier.reset(token)


def by_earlier_rules() -> bool:
    """Whether data are to be described so."""
    return _earlier.get()
