"""What was just written is concluded from as it is in memory: the same as from its files, within a bound."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import snellen
from snellen.checks import ListedImage, copies
from snellen.checks.copied_images import stored_copies
from snellen.data import from_arrays
from snellen.engine.keep import recent, shard_file, store
from snellen.engine.keep.recent import RecentTables
from snellen.engine.keep.store import Store
from snellen.models import from_callable


def reads_corner(images: np.ndarray) -> np.ndarray:
    """Answers by a corner's level; fails on one image."""
    if (images[:, 4, 4, 2] == 250).any():
        raise ValueError("too bright")
    return np.eye(4)[np.clip(np.rint(images[:, 0, 0, 0] / 40).astype(int) - 1, 0, 3)]


def some_data():
    """100 images of four grey levels, five of them without a label."""
    labels = np.arange(100) % 4
    images = np.broadcast_to((40 * (labels + 1))[:, None, None, None], (100, 8, 8, 3)).astype(np.uint8)
    images = images + (np.arange(100) % 3).astype(np.uint8)[:, None, None, None]
    images[3, 4, 4, 2] = 250
    labels[::20] = -1
    return from_arrays({"images": images, "labels": labels}, "memory:grey", "grey")


def conclusions(folder: Path, **settings: object) -> dict:
    model = from_callable(reads_corner, size=8, name="corner", version="1")
    how = {"quiet": True, "report": False, "shard": 16, "batch_size": 8, **settings}
    run = snellen.audit(model, some_data(), "occlusion([0.3], [black])", folder, **how)
    results = json.loads((run.path / "findings.json").read_text())
    return {name: results[name] for name in ("findings", "notices", "warnings")}


@pytest.mark.parametrize("keep", [None, "top5"])
def test_conclusions_from_memory_from_files_and_from_both_are_the_same(tmp_path: Path, monkeypatch, keep) -> None:
    in_memory = conclusions(tmp_path / "memory", keep=keep)
    assert conclusions(tmp_path / "memory", keep=keep) == in_memory  # again: nothing is in memory
    monkeypatch.setattr(recent.RecentTables.__init__, "__defaults__", (10_000,))  # some tables, not all
    assert conclusions(tmp_path / "both", keep=keep) == in_memory
    assert any("failed on" in notice for notice in in_memory["notices"])


def test_nothing_that_was_just_written_is_read_back_to_conclude(tmp_path: Path, monkeypatch) -> None:
    read: list[str] = []

    def counted(path: Path, *columns: object, **how: object) -> pa.Table:
        read.append(shard_file.table_of(path))
        return shard_file.read_rows(path, *columns, **how)

    monkeypatch.setattr(store, "read_rows", counted)
    conclusions(tmp_path / "run")
    assert set(read) <= {"cells", "samples"}  # findings.json lists unreadable images as any reader of the folder would


def test_no_more_is_held_than_its_bound() -> None:
    table = pa.table(
        {"cell": ["a"] * 10, "sample": list("0123456789"), "pred": list(range(10)), "logits": [[0.0]] * 10}
    )
    tables = RecentTables(2 * table.select(["cell", "sample", "pred"]).nbytes)
    for number in range(3):
        tables.add("answers", Path(f"{number}"), table)
    assert tables.rows(Path("1"), ["pred"]) is not None
    assert tables.rows(Path("2"), ["pred"]) is None
    assert tables.rows(Path("1"), ["logits"]) is None  # that is on the disk


images = st.lists(st.tuples(st.sampled_from(["", "cat", "dog"]), st.sampled_from(["", *"abcdefgh"])), max_size=8)


@settings(deadline=None, max_examples=25)
@given(test=images, train=images, shard=st.integers(1, 4))
def test_copies_in_a_store_are_those_of_its_lists(tmp_path_factory, test, train, shard) -> None:
    folder = tmp_path_factory.mktemp("run")
    lists: dict[str, list[ListedImage]] = {}
    for on, some in (("test", test), ("train", train)):
        lists[on] = [ListedImage(f"{on}-{i}", label, sum_) for i, (label, sum_) in enumerate(some) if sum_]
        for start in range(0, len(some), shard):
            rows = [(f"{on}-{i}", *some[i]) for i in range(start, min(start + shard, len(some)))]
            columns = dict(zip(("sample", "class", "checksum"), map(list, zip(*rows))))
            count = len(rows)
            more = {"on": [on] * count, "label": [0] * count}
            shard_file.write_table(folder / "samples" / on, start // shard, pa.table({**columns, **more}))
    assert stored_copies(Store(folder), ["test", "train"]) == copies(lists)
