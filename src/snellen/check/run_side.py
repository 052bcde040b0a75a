"""A run as one side of a comparison: its findings and, read when they are needed, its samples and answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from snellen.audits import read_findings
from snellen.audits.stored_finding import StoredFinding
from snellen.check.side import Listing, Measured, ModelCell, Scores, measured, questions_of, sample_key
from snellen.engine.keep.complete import incomplete
from snellen.engine.keep.run_folder import RunFolder
from snellen.engine.keep.shard_file import read_rows, read_schema, shard_of
from snellen.engine.keep.stored_parts import stored_parts


class RunSide:
    """The run in a folder."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder

    @property
    def source(self) -> str:
        return str(self.folder.path)

    @property
    def created(self) -> str:
        return str(self._results["created"])

    @property
    def snellen(self) -> str:
        return str(self._results["snellen"])

    @property
    def models(self) -> Mapping[str, Sequence[str]]:
        return dict(self._results["models"])

    @cached_property
    def stored(self) -> list[StoredFinding[Any]]:
        """Every finding with its facts, which conditions may name."""
        return read_findings(self._results)

    @cached_property
    def findings(self) -> list[Measured]:
        return [measured(finding) for finding in self.stored]

    def listing(self, on: str) -> Listing | None:
        if on not in self._samples:
            return None
        rows = self._samples[on]
        keys = [sample_key(*row) for row in zip(rows["sample"], rows["class"], rows["checksum"])]
        groups = rows.get("group")
        return Listing(np.array(keys, np.uint64), None if groups is None else np.asarray(groups, object).astype(str))

    def sample(self, on: str, place: int) -> tuple[str, str]:
        """The id and the class of the sample at a place of the listing."""
        rows = self._samples[on]
        return rows["sample"][place], rows["class"][place]

    def answers(self, question: ModelCell) -> Scores | None:
        keys = {row["run"]: row["cell"] for row in self._cells if _question(row) == question}
        runs = self.models.get(question.model, ())
        if not runs or not all(run in keys for run in runs):
            return None
        self._read({keys[run]: question.on for run in runs})
        return np.stack([self._known[keys[run]] for run in runs])

    def read_ahead(self, findings: Iterable[Measured]) -> None:
        """Read the answers behind several findings in one pass over the files."""
        wanted = {question for finding in findings if finding.unit == "share" for question in questions_of(finding)}
        self._read({row["cell"]: row["on"] for row in self._cells if _question(row) in wanted})

    @cached_property
    def _results(self) -> dict[str, Any]:
        return self.folder.results()

    @cached_property
    def _samples(self) -> dict[str, dict[str, list[Any]]]:
        """Role → its samples' columns, in the order of the listing."""
        roles: dict[str, dict[str, list[Any]]] = {}
        self.folder.check_files(["samples", "answers"])
        for file in sorted(self.folder.store.files("samples"), key=shard_of):
            columns = roles.setdefault(file.parent.name, {})
            names = ("sample", "class", "checksum", *(("group",) if "group" in read_schema(file).names else ()))
            table = read_rows(file, names)
            for name in names:
                columns.setdefault(name, []).extend(table[name].to_pylist())
        for on, columns in roles.items():
            if len(set(columns["sample"])) < len(columns["sample"]):
                raise incomplete(self.folder.store, f"its {on} samples are listed twice")
        return roles

    @cached_property
    def _rows(self) -> dict[str, dict[str, int]]:
        """Role → sample → place in the listing."""
        return {on: {sample: row for row, sample in enumerate(own["sample"])} for on, own in self._samples.items()}

    @cached_property
    def _cells(self) -> list[dict[str, Any]]:
        return self.folder.store.cells()

    @cached_property
    def _known(self) -> dict[str, Scores]:
        return {}

    def _read(self, wanted: Mapping[str, str]) -> None:
        """Read the scores of cells that are not known yet, without those of excluded samples."""
        keys = {key: on for key, on in wanted.items() if key not in self._known and on in self._rows}
        if not keys:
            return
        store = self.folder.store
        for key, on in keys.items():
            self._known[key] = np.full(len(self._rows[on]), np.nan)
        for key, start, stop, columns, at in stored_parts(store, store.files("answers"), ("score",), keys, self._rows):
            self._known[key][at] = columns["score"][start:stop]
        shown = {row["shown"]: row["on"] for row in self._cells if row["cell"] in keys}
        excluded = {key: np.zeros(len(self._rows[on]), bool) for key, on in shown.items()}
        for key, start, stop, columns, at in stored_parts(
            store, store.files("shown"), ("excluded",), shown, self._rows
        ):
            excluded[key][at] = columns["excluded"][start:stop]
        for row in self._cells:
            if row["cell"] in keys:
                self._known[row["cell"]][excluded[row["shown"]]] = np.nan


def _question(row: Mapping[str, Any]) -> ModelCell:
    return ModelCell(row["model"], row["on"], row["seed"], row["distortion"])
