"""The rows of stored tables, cell by cell: arrays at the places of their samples in the listing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen.engine.keep.complete import incomplete
from snellen.engine.keep.shard_file import damaged, table_of
from snellen.engine.keep.store import Store

if TYPE_CHECKING:
    import pyarrow as pa


def stored_parts(
    store: Store,
    files: Sequence[Path],
    names: Sequence[str],
    keys: Mapping[str, str],
    rows: Mapping[str, Mapping[str, int]],
) -> Iterable[tuple[str, int, int, dict[str, np.ndarray], np.ndarray | slice]]:
    """Runs of rows with one key: (key, start, stop, columns of the file, positions of the run's samples in the listing)."""
    import pyarrow as pa

    listed: dict[str, pa.Array] = {}
    for file in files:
        word = "cell" if table_of(file) == "answers" else "shown"
        part = store.rows(file, [word, "sample", *names], dictionaries=[word, "sample"]).combine_chunks()
        if not len(part):
            continue
        part = part.unify_dictionaries()
        code = part[word].chunk(0)
        sample = part["sample"].chunk(0)
        columns = {name: _values(part[name], file) for name in names}
        numbers = code.indices.to_numpy()
        samples = sample.indices.to_numpy()
        words = code.dictionary.to_pylist()
        edges = [0, *(np.flatnonzero(np.diff(numbers)) + 1), len(numbers)]
        places: dict[str, _Places] = {}
        for start, stop in itertools.pairwise(edges):
            key = words[numbers[start]]
            if key in keys:
                on = keys[key]
                if on not in places:
                    if on not in listed:
                        listed[on] = pa.array(rows[on], sample.dictionary.type)
                    places[on] = _Places(_positions(sample.dictionary, rows[on], listed[on]))
                at = places[on].of(samples[start:stop])
                if not isinstance(at, slice) and (at < 0).any():
                    raise incomplete(store, f"{file.relative_to(store.folder)} holds images that its data do not have")
                yield key, start, stop, columns, at


class _Places:
    """Where the samples of a file are in the listing, −1 where it lacks them."""

    def __init__(self, positions: np.ndarray) -> None:
        self.positions = positions
        self.in_order = np.arange(len(positions), dtype=np.int32)
        self.all = _as_slice(positions)

    def of(self, numbers: np.ndarray) -> np.ndarray | slice:
        """The places of some samples, by their numbers in the file: most often all, in order."""
        return self.all if np.array_equal(numbers, self.in_order) else _as_slice(self.positions[numbers])


def _as_slice(at: np.ndarray) -> np.ndarray | slice:
    """Places as a slice, where they follow each other."""
    together = at[0] >= 0 and at[-1] - at[0] == len(at) - 1 and (np.diff(at) == 1).all()
    return slice(at[0], at[-1] + 1) if together else at


def _positions(samples: pa.Array, rows: Mapping[str, int], listed: pa.Array) -> np.ndarray:
    """The places of samples in the listing, −1 where it lacks them; a shard is most often a part of it, in order."""
    start = rows.get(samples[0].as_py(), -1)
    if start >= 0 and listed.slice(start, len(samples)).equals(samples):
        return np.arange(start, start + len(samples))
    return np.array([rows.get(sample, -1) for sample in samples.to_pylist()])


def read_counts(
    store: Store, keys: Mapping[str, str], rows: Mapping[str, Mapping[str, int]], classes: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """Cell key → int64 [samples, classes, 3]: true positives, false positives and false negatives of each class, in pixels; 0
    where there is no answer. `keys` and `rows` are as in `stored_parts`, `classes` their number by role of the data."""
    counts = {key: np.zeros((len(rows[on]), classes[on], 3), np.int64) for key, on in keys.items()}
    files = [file for file in store.files("answers") if keys and "counts" in store.schema(file).names]
    for key, start, stop, columns, at in stored_parts(store, files, ("counts",), keys, rows):
        lists = columns["counts"][start:stop]
        if lists.shape[1] != 3 * classes[keys[key]] or (lists < 0).any():
            raise incomplete(store, f"the counts of pixels of cell {key} do not fit its {classes[keys[key]]} classes")
        counts[key][at] = lists.reshape(len(lists), 3, -1).transpose(0, 2, 1)
    return counts


def _values(column: pa.ChunkedArray, file: Path) -> np.ndarray:
    """A column as an array; lists, which have one length, as [rows, length]."""
    import pyarrow.types as types

    if not types.is_list(column.type):
        return column.to_numpy()
    lists = column.combine_chunks()
    lengths = np.diff(lists.offsets.to_numpy())
    if lists.null_count or lists.values.null_count or len(set(lengths.tolist())) > 1:
        raise damaged(file)
    return lists.flatten().to_numpy().reshape(len(lists), -1)
