"""What is stored behind findings, for galleries: rows of the `cells` table and of surveys, and what was answered in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from snellen.engine.keep.schemas import CardRecord
from snellen.engine.keep.shard_file import read_rows, shard_files
from snellen.errors import UserError
from snellen.files import fit
from snellen.report.results import Results

R = TypeVar("R")


class CellRow(msgspec.Struct, frozen=True):
    """A row of the `cells` table: the question that a run of a model was asked, and the keys of its answers and of what was
    shown."""

    cell: str
    shown: str
    model: str
    run: str
    on: str
    distortion: str
    seed: int


class AnswerRow(msgspec.Struct, frozen=True):
    """An answer: the class among the data's (−1 for none of them), the class among the model's own, and the score (nan or None
    for an image that could not be shown)."""

    cell: str
    sample: str
    pred: int
    raw: int
    score: float | None


Replies: TypeAlias = Mapping[tuple[str, str], AnswerRow]
"""(cell, sample) → the answer."""


def cell_rows(results: Results) -> list[CellRow]:
    """The rows of the `cells` table with the run's seed, models and runs in the order they were asked in."""
    rows: list[CellRow] = fit(results.cells, list[CellRow], results.folder.path / "cells.parquet")
    runs = [(model, run) for model, names in results.models.items() for run in names]
    order = {run: place for place, run in enumerate(runs)}
    rows = [row for row in rows if row.seed == results.facts.settings.seed and (row.model, row.run) in order]
    return sorted(rows, key=lambda row: order[row.model, row.run])


def survey_rows(results: Results, model: str, request: str, kind: type[R]) -> Sequence[R]:
    """What a survey counted of the model's first run, as rows of a kind; nothing where that is not stored, or damaged."""
    store = results.folder.store
    wanted = {"model": model, "run": results.models[model][0], "distortion": request}
    keys = [row["cell"] for row in results.cells if row.items() >= wanted.items()]
    try:
        table = store.survey(keys[-1]) if keys else None
        return () if table is None else fit(table.rows, list[kind], "surveys")  # type: ignore[valid-type]
    except UserError:
        return ()


def stored_answers(files: Sequence[Path], samples: Collection[str]) -> Replies:
    """(cell, sample) → its answer, of some samples."""
    import pyarrow.compute as pc

    answers: dict[tuple[str, str], AnswerRow] = {}
    for file in files if samples else ():
        table = read_rows(file, list(AnswerRow.__struct_fields__), filters=pc.field("sample").isin(sorted(samples)))
        rows: list[AnswerRow] = fit(table.to_pylist(), list[AnswerRow], file)
        answers |= {(row.cell, row.sample): row for row in rows}
    return answers


def answered_class(answer: AnswerRow, classes: Sequence[str], own: Sequence[str] | None) -> str:
    """The class of an answer; one that is none of the data's classes goes by its name among the model's `own` classes."""
    if 0 <= answer.pred < len(classes):
        return classes[answer.pred]
    if own and 0 <= answer.raw < len(own):
        return f"another class: {own[answer.raw].partition(',')[0]}"  # the first of its synonyms
    return "another class"


def model_card(results: Results, model: str) -> CardRecord | None:
    """The card of a model's first run."""
    return next(iter(results.facts.models.get(model, {}).values()), None)


def model_classes(results: Results, model: str) -> list[str] | None:
    """The classes that a model's card names; None where it names none."""
    card = model_card(results, model)
    return (card.classes or None) if card else None


def sample_places(results: Results, samples: Collection[str]) -> dict[tuple[str, str], int]:
    """(role, sample) → position in the listing; shards hold it in order."""
    places: dict[tuple[str, str], int] = {}
    for on in results.facts.data:
        folder = results.folder.path / "samples" / on
        start = 0
        for file in shard_files(folder):
            listing: Sequence[str] = read_rows(file, ["sample"])["sample"].to_pylist()
            places |= {(on, sample): start + row for row, sample in enumerate(listing) if sample in samples}
            start += len(listing)
    return places
