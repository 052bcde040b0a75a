"""The tuples of edits that a training draws from: they grow with each search, and a file beside the checkpoint keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from snellen.atomic import encode_json, write_atomic
from snellen.errors import UserError
from snellen.files import MIB, expand_home, fit, read_json
from snellen.files.plain import place_to_write
from snellen.hashing import key_of

ENDING = ".transformations.json"
FORMAT = 1
_MOST_BYTES = 64 * MIB

Edit = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class WorstTuple(msgspec.Struct, frozen=True):
    """What a search appended: its number, after how many updates and epochs (of its own training), the edits from left to
    right, and the accuracy of the network of that time under them."""

    search: Count
    update: Count
    epoch: Annotated[float, msgspec.Meta(ge=0, le=1e15)]
    edits: Annotated[tuple[Edit, ...], msgspec.Meta(max_length=1000)]
    accuracy: Annotated[float, msgspec.Meta(ge=0, le=1)]

    def to_json(self) -> dict[str, Any]:
        row: dict[str, Any] = msgspec.to_builtins(self)
        return row


class StoredSet(msgspec.Struct):
    """The file: its format, the name of the set that edits come from, and the tuples in the order they were appended."""

    format: Annotated[int, msgspec.Meta(ge=1)]
    set: Annotated[str, msgspec.Meta(max_length=10_000)]
    tuples: Annotated[list[WorstTuple], msgspec.Meta(max_length=1_000_000)]


def pool_of(tuples: Sequence[WorstTuple], duplicates: str) -> list[tuple[str, ...]]:
    """What a batch draws from, all equally likely: the identity, and each tuple as often as it came, or once (`merge`)."""
    pool = [(), *(worst.edits for worst in tuples)]
    return list(dict.fromkeys(pool)) if duplicates == "merge" else pool


def write_tuples(path: Path | str, name: str, tuples: Sequence[WorstTuple]) -> None:
    """The file of a set, whole or not at all.

    >>> from snellen.train.shift.tuple_set import WorstTuple, write_tuples
    >>> write_tuples("found.json", "cifar10", [WorstTuple(1, 100, 2.0, ("contrast(0.6)", "red(-30)"), 0.41)])
    """
    content = {"format": FORMAT, "set": name, "tuples": [worst.to_json() for worst in tuples]}
    write_atomic(place_to_write(path), encode_json(content))


def read_tuples(path: Path | str) -> list[WorstTuple]:
    """The tuples of a stored set, every edit checked.

    >>> from snellen.train.shift.tuple_set import WorstTuple, read_tuples, write_tuples
    >>> write_tuples("found.json", "cifar10", [WorstTuple(1, 100, 2.0, ("contrast(0.6)", "red(-30)"), 0.41)])
    >>> read_tuples("found.json")[0].accuracy
    0.41
    """
    stored: StoredSet = read_json(expand_home(path), StoredSet, "set of transformations", _MOST_BYTES)
    if stored.format != FORMAT:
        raise UserError(f"{path}: expected format {FORMAT}, got {stored.format}; was it written by a newer snellen?")
    check_edits(stored.tuples, path)
    return stored.tuples


def restore_tuples(rows: Any, path: Path | str) -> list[WorstTuple]:
    """The tuples of a saved state."""
    tuples: list[WorstTuple] = fit(rows, list[WorstTuple], path)
    check_edits(tuples, path)
    return tuples


def check_edits(tuples: Sequence[WorstTuple], source: Path | str) -> None:
    """Refuse texts that name no edit which a training can show."""
    from snellen.train.shift.ways import check_edit

    for text in dict.fromkeys(text for worst in tuples for text in worst.edits):
        check_edit(text, str(source))


def fingerprint_of(tuples: Sequence[WorstTuple]) -> str:
    """What tells one set from another to begin with: its edits in their order."""
    return key_of([list(worst.edits) for worst in tuples])


def table_of(rows: Any, source: Path | str) -> list[tuple[str, ...]]:
    """The set for people, from its rows on a card: a header and one line per search."""
    tuples: list[WorstTuple] = fit(rows, list[WorstTuple], source)
    lines = [
        (str(worst.search), f"{worst.update:,}", f"{worst.epoch:g}", f"{worst.accuracy:.4f}", " | ".join(worst.edits))
        for worst in tuples
    ]
    return [("search", "update", "epoch", "accuracy", "edits"), *lines]
