"""Names of files that follow from the ids of samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from snellen.data.in9.layout import file_name
from snellen.hashing import key_of


def names_of(ids: Sequence[str]) -> list[str]:
    """A file name for each id; where two would be the same, a hash of the id tells them apart."""
    names = [file_name(sample) for sample in ids]
    often = Counter(name.lower() for name in names)
    return [n if often[n.lower()] == 1 else f"{n}-{key_of(sample)[:8]}" for n, sample in zip(names, ids)]
