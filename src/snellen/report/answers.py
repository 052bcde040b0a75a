"""Stored answers for galleries: which rows of the `cells` table findings rest on, and what was answered in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.engine.keep.shard_file import read_rows
from snellen.report.results import Results

ANSWER_COLUMNS = ("cell", "sample", "pred", "raw", "score")


def cell_rows(results: Results) -> list[dict[str, Any]]:
    """The rows of the `cells` table with the run's seed, models and runs in the order they were asked in."""
    rows = results.folder.store.cells()
    seed = results.facts["settings"]["seed"]
    runs = [(model, run) for model, names in results.models.items() for run in names]
    order = {run: place for place, run in enumerate(runs)}
    rows = [row for row in rows if row["seed"] == seed and (row["model"], row["run"]) in order]
    return sorted(rows, key=lambda row: order[row["model"], row["run"]])


def stored_answers(files: Sequence[Path], samples: Collection[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """(cell, sample) → its answer, of some samples."""
    import pyarrow.compute as pc

    answers: dict[tuple[str, str], dict[str, Any]] = {}
    for file in files if samples else ():
        table = read_rows(file, list(ANSWER_COLUMNS), filters=pc.field("sample").isin(sorted(samples)))
        answers |= {(row["cell"], row["sample"]): row for row in table.to_pylist()}
    return answers


def answered_class(answer: Mapping[str, Any], classes: Sequence[str], own: Sequence[str] | None) -> str:
    """The class of an answer; one that is none of the data's classes goes by its name among the model's `own` classes."""
    if 0 <= answer["pred"] < len(classes):
        return classes[answer["pred"]]
    if own and 0 <= answer["raw"] < len(own):
        return f"another class: {own[answer['raw']].partition(',')[0]}"  # the first of its synonyms
    return "another class"


def model_classes(results: Results, model: str) -> list[str] | None:
    """The classes that a model's card names; None where it names none."""
    card: Mapping[str, Any] = next(iter(results.facts["models"].get(model, {}).values()), {})
    return card.get("classes") or None


def sample_places(results: Results, samples: Collection[str]) -> dict[tuple[str, str], int]:
    """(role, sample) → position in the listing; shards hold it in order."""
    places: dict[tuple[str, str], int] = {}
    for on in results.facts["data"]:
        folder = results.folder.path / "samples" / on
        start = 0
        for file in sorted(folder.glob("*.parquet"), key=lambda file: int(file.stem.partition("-")[0])):
            listing: Sequence[str] = read_rows(file, ["sample"])["sample"].to_pylist()
            places |= {(on, sample): start + row for row, sample in enumerate(listing) if sample in samples}
            start += len(listing)
    return places
