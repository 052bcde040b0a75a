"""Every answer of a run as one table, shard by shard: what is in memory does not grow with the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.engine.keep.run_folder import RunFolder
from snellen.engine.keep.shard_file import damaged, is_whole, read_rows, shard_file, shard_of
from snellen.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

NONE = "-1"  # the answer that is none of the data's classes
# Public names, in this order: column → what it holds, and its meaning.
COLUMNS: Mapping[str, tuple[str, str]] = {
    "model": ("string", "name of the model in the run"),
    "run": ("string", "name of its run: a checkpoint, or a repeat"),
    "on": ("string", "role of the data: test, train, or a stored variant"),
    "distortion": ("string", "what was shown, in the form that `distort.parse` reads; none() is the image as it is"),
    "seed": ("int64", "seed of the distortion"),
    "sample": ("string", "id of the image"),
    "class": ("string", "true class; empty where it is unknown"),
    "pred": ("string", "class that the model answered; -1 is none of the data's, empty for other tasks"),
    "raw": ("int32", "the model's own number of it"),
    "score": ("float", "1 right, 0 wrong, or a share for other tasks; empty where the true class is unknown"),
    "confidence": ("float", "probability of the answered class"),
    "label_prob": ("float", "probability of the true class"),
    "excluded": ("bool", "the distortion could not be made as asked; counts in no measure"),
}
_FACTS = ("model", "run", "on", "distortion", "seed")
_ANSWERS = ("pred", "raw", "score", "confidence", "label_prob")


@dataclass(frozen=True)
class ShardRows:
    """The answers about one shard of a dataset, all cells together: a table with COLUMNS, and the rows of its samples."""

    on: str
    samples: pa.Table
    answers: pa.Table


def schema() -> pa.Schema:
    """The columns and their types; words are dictionaries."""
    import pyarrow as pa

    words = pa.dictionary(pa.int32(), pa.string())
    kinds = {"string": words, "int64": pa.int64(), "int32": pa.int32(), "float": pa.float32(), "bool": pa.bool_()}
    return pa.schema([(name, kinds[kind]) for name, (kind, _) in COLUMNS.items()])


def roles(run: RunFolder) -> list[str]:
    """The roles of the data, in the order of the run."""
    return list(run.facts["data"])


def answer_rows(run: RunFolder, on: str | None = None) -> Iterator[ShardRows]:
    """Shard by shard, the answers of a run that is complete: of one role of its data, or of all one after the other."""
    import pyarrow as pa

    run.results()  # of a run that has not ended there is nothing to give away
    run.check_files(["cells", "samples", "shown", "answers"])
    cells = {row["cell"]: row for row in run.store.cells()}
    files = _by_shard(run.store.files("answers")), _by_shard(run.store.files("shown"))
    for role in roles(run) if on is None else [on]:
        context = _Context(cells, run.facts["data"][role]["classes"], role, run.task == "classification")
        for shard in sorted(files[0]):
            listing = shard_file(run.store.folder / "samples" / role, shard)
            if listing is None:
                continue
            samples = read_rows(_whole(listing))
            rows = {sample: row for row, sample in enumerate(samples["sample"].to_pylist())}
            excluded = _excluded(files[1].get(shard, ()), rows)
            tables = [context.table(_whole(file), rows, samples, excluded) for file in files[0][shard]]
            yield ShardRows(role, samples, pa.concat_tables(tables).unify_dictionaries())


def _by_shard(files: Sequence[Path]) -> dict[int, list[Path]]:
    by_shard: dict[int, list[Path]] = {}
    for file in files:
        by_shard.setdefault(shard_of(file), []).append(file)
    return by_shard


def _whole(file: Path) -> Path:
    if not is_whole(file):
        raise damaged(file)
    return file


def _excluded(files: Sequence[Path], rows: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Shown key → bool [samples], of those under which some image is excluded."""
    import pyarrow.compute as pc

    flags: dict[str, np.ndarray] = {}
    for file in files:
        table = read_rows(_whole(file), ["shown", "sample", "excluded"])
        for row in table.filter(pc.fill_null(table["excluded"], False)).to_pylist():
            if row["sample"] in rows:
                flags.setdefault(row["shown"], np.zeros(len(rows), bool))[rows[row["sample"]]] = True
    return flags


@dataclass(frozen=True)
class _Context:
    """What the rows of a role are completed with."""

    cells: Mapping[str, Mapping[str, Any]]
    classes: Sequence[str]
    on: str
    classify: bool

    def table(
        self, file: Path, rows: Mapping[str, int], samples: pa.Table, excluded: Mapping[str, np.ndarray]
    ) -> pa.Table:
        """The answers in a file about these samples, with the facts of their cells and samples."""
        import pyarrow as pa

        part = read_rows(file, ["cell", "sample", *_ANSWERS], dictionaries=["cell", "sample"])
        part = part.combine_chunks().unify_dictionaries()
        if not len(part):
            return schema().empty_table()
        cell, sample = (part[name].chunk(0) for name in ("cell", "sample"))
        facts = [self._cell(key, file) for key in cell.dictionary.to_pylist()]
        own = np.array([fact["on"] == self.on for fact in facts])[cell.indices.to_numpy()]
        if not own.all():
            part = part.filter(pa.array(own)).combine_chunks()
            if not len(part):
                return schema().empty_table()
            cell, sample = (part[name].chunk(0) for name in ("cell", "sample"))
        at = np.array([rows.get(each, -1) for each in sample.dictionary.to_pylist()])[sample.indices.to_numpy()]
        if (at < 0).any():
            raise damaged(file)
        labels = samples["label"].to_numpy()[at]
        pred = part["pred"].to_numpy()
        flags = np.zeros(len(part), bool)
        numbers = cell.indices.to_numpy()
        for number, fact in enumerate(facts):
            if fact["shown"] in excluded:
                flags |= (numbers == number) & excluded[fact["shown"]][at]
        columns = {
            **{name: _words([fact[name] for fact in facts], numbers) for name in _FACTS if name != "seed"},
            "seed": pa.array(np.array([fact["seed"] for fact in facts])[numbers]),
            "sample": sample,
            "class": _words(self.classes, np.where(labels >= 0, labels, -1)),
            "pred": _words(
                [*self.classes, NONE], np.where(pred < 0, len(self.classes), pred) if self.classify else pred * 0 - 1
            ),
            "raw": part["raw"],
            **{name: _known(part[name]) for name in ("score", "confidence", "label_prob")},
            "excluded": pa.array(flags),
        }
        return pa.table(columns).cast(schema())

    def _cell(self, key: str, file: Path) -> Mapping[str, Any]:
        if key not in self.cells:
            raise UserError(f"{file} holds answers of a cell that cells.parquet does not have; run its audit again")
        return self.cells[key]


def _words(words: Sequence[str], numbers: np.ndarray) -> pa.Array:
    """A dictionary column of words by their numbers; empty where a number is negative."""
    import pyarrow as pa

    if len(numbers) and numbers.max() >= len(words):
        raise UserError("a stored class is not among those of the data; run the audit again to repair the run")
    return pa.DictionaryArray.from_arrays(
        pa.array(numbers.astype(np.int32), mask=numbers < 0), pa.array(words, pa.string())
    )


def _known(values: pa.ChunkedArray) -> pa.Array:
    """Numbers, empty where there is none."""
    import pyarrow as pa

    return pa.array(values.to_numpy().astype(np.float32), from_pandas=True)
