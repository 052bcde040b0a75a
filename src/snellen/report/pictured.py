"""The pictures that a run keeps, by sample, with every model's answers to them: what strips and galleries are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np

from snellen.engine.keep.shard_file import read_rows, shard_file, shard_of
from snellen.files import fit
from snellen.report.answers import CellRow, Replies, answered_class, cell_rows, model_classes, stored_answers
from snellen.report.blocks import Answer, Picture
from snellen.report.results import Results
from snellen.report.words import UNKNOWN, is_known


class SampleRow(msgspec.Struct, frozen=True, rename={"class_name": "class"}):
    """A row of the `samples` table with the shard that holds it; −1 is the label of a sample without one."""

    sample: str
    label: int
    class_name: str
    error: str
    shard: int


@dataclass(frozen=True)
class Pictured:
    """The samples of a run that have pictures, by what was shown of them."""

    results: Results

    @cached_property
    def cells(self) -> Mapping[tuple[str, str, str], Sequence[CellRow]]:
        """(model, role, distortion) → the rows of its runs."""
        rows: dict[tuple[str, str, str], dict[str, CellRow]] = {}
        for row in cell_rows(self.results):
            rows.setdefault((row.model, row.on, row.distortion), {})[row.run] = row
        return {question: list(runs.values()) for question, runs in rows.items()}

    @cached_property
    def positions(self) -> Mapping[str, Collection[int]]:
        """What was shown → the places in the listing that have a picture."""
        folder = self.results.folder.path / "thumbs"
        shown = {row.shown for rows in self.cells.values() for row in rows}
        return {key: {int(f.stem) for f in (folder / key).glob("*.png") if f.stem.isdecimal()} for key in sorted(shown)}

    @cached_property
    def samples(self) -> Mapping[str, Mapping[int, SampleRow]]:
        """Role → place → row of the listing, of all that have a picture, a label and no error."""
        places: dict[str, set[int]] = {}
        for (_, on, _), rows in self.cells.items():
            places.setdefault(on, set()).update(*(self.positions[row.shown] for row in rows))
        listed = {on: samples_at(self.results, sorted(some), on) for on, some in places.items()}
        return {
            on: {place: row for place, row in rows.items() if not row.error and row.label >= 0}
            for on, rows in listed.items()
        }

    @cached_property
    def answers(self) -> Replies:
        """(cell, sample) → the answer, of every pictured sample."""
        rows = [row for some in self.samples.values() for row in some.values()]
        shards = {row.shard for row in rows}
        cells = {row.cell for own in self.cells.values() for row in own}
        files = [file for file in self.results.folder.store.answer_files(cells) if shard_of(file) in shards]
        return stored_answers(files, {row.sample for row in rows})

    def places(self, model: str, on: str, distortion: str) -> dict[str, int]:
        """Sample → place, of those pictured as the first run of a model saw them; empty where none is."""
        rows = self.cells.get((model, on, distortion))
        if not rows:
            return {}
        listed = self.samples[on]
        return {listed[place].sample: place for place in sorted(self.positions[rows[0].shown]) if place in listed}

    def picture(self, model: str, on: str, distortion: str, sample: str, alt: str) -> Picture:
        """A sample under a distortion as the model saw it, without answers."""
        place = self.places(model, on, distortion).get(sample)
        rows = self.cells.get((model, on, distortion))
        return Picture(self.results.thumbnail(rows[0].shown, place) if rows and place is not None else None, alt)

    def answer(self, model: str, on: str, distortion: str, sample: SampleRow) -> Answer | None:
        """A model's answer: that of most of its runs (the earliest where tied), and how many runs were right; None where the
        question was not asked."""
        cells = self.cells.get((model, on, distortion))
        if not cells:
            return None
        results = self.results
        replies = [reply for row in cells if (reply := self.answers.get((row.cell, sample.sample)))]
        rows = [row for row in replies if is_known(row.score)]
        hue = results.own_hue(model)
        if not rows:
            return Answer(UNKNOWN, title=model, hue=hue)
        classes, own = results.data[on].classes, model_classes(results, model)
        answers = [(answered_class(row, classes, own), row.pred == sample.label) for row in rows]
        (name, right), _ = Counter(answers).most_common(1)[0]
        hits = sum(hit for _, hit in answers)
        return Answer(name, right, f"{hits}/{len(rows)}" if len(rows) > 1 else "", model, hue)


def samples_at(results: Results, positions: Sequence[int], on: str) -> dict[int, SampleRow]:
    """Position in a listing → row of the `samples` table; shards hold the listing in order."""
    size = results.facts.settings.shard
    samples: dict[int, SampleRow] = {}
    for shard in sorted({position // size for position in positions}):
        if file := shard_file(results.folder.path / "samples" / on, shard):
            table = read_rows(file, ["sample", "label", "class", "error"])
            inside = [position for position in positions if position // size == shard and position % size < len(table)]
            rows = table.take(np.array([position % size for position in inside], np.int64)).to_pylist()
            listed: list[SampleRow] = fit([{**row, "shard": shard} for row in rows], list[SampleRow], file)
            samples |= dict(zip(inside, listed))
    return samples
