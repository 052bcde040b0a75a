"""The gallery: a few images under every distortion with each model's answer, from stored thumbnails and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from snellen.engine.keep.shard_file import read_rows, shard_file, shard_of
from snellen.files import fit
from snellen.report.answers import CellRow, Replies, answered_class, cell_rows, model_classes, stored_answers
from snellen.report.blocks import Answer, Block, FactLine, Gallery, Heading, Picture, Row, TableCell, lead
from snellen.report.results import Results
from snellen.report.table import CLEAN
from snellen.report.words import UNKNOWN, in_words, is_known

PICTURES = 8
ON = "test"


class SampleRow(msgspec.Struct, frozen=True, rename={"class_name": "class"}):
    """A row of the `samples` table with the shard that holds it; −1 is the label of a sample without one."""

    sample: str
    label: int
    class_name: str
    error: str
    shard: int


def gallery_blocks(results: Results) -> list[Block]:
    """Some images with the classes each model answers; nothing where no pictures are stored."""
    if results.task != "classification":
        return []  # its answers are pictures of their own, in the section of the audit
    gallery = gallery_of(results)
    if not gallery.rows:
        return []
    first = " (pictures of the first model where sizes differ)" if results.several else ""
    most = ", the answer of most runs and how many runs were right" if results.repeated else ""
    return [
        Heading("Examples"),
        lead(f"Some images as the models saw them{first}, with their answers: ✓ right, ✗ wrong{most}."),
        FactLine(results.keys()),
        gallery,
    ]


def gallery_of(results: Results) -> Gallery:
    """Columns (distortions, clean first) and rows (samples) of pictures with the answers of each model."""
    if ON not in results.data:
        return Gallery((), ())
    distortions = _distortions(results)
    cells = _cells(results)
    folders = {text: next((row.shown for row in cells if row.distortion == text), "") for text in distortions}
    samples = _choose(results, positions_with_pictures(results, list(folders.values())))
    answers = _answers(results, samples)
    rows = []
    for position, sample in samples.items():
        pictures = []
        for text in distortions:
            cells_of = {
                model: [row.cell for row in cells if row.distortion == text and row.model == model]
                for model in results.models
            }
            replies = [_answer(model, keys, sample, answers, results) for model, keys in cells_of.items() if keys]
            alt = f"{sample.class_name}: {in_words(text)}"
            pictures.append(Picture(results.thumbnail(folders[text], position), alt, tuple(replies)))
        rows.append(Row(TableCell(sample.class_name, title=sample.sample), tuple(pictures)))
    columns = [TableCell(in_words(text), note="" if text == CLEAN else text) for text in distortions]
    return Gallery((TableCell("is"), *columns), tuple(rows))


def _distortions(results: Results) -> list[str]:
    """Clean, then every distortion in the order of the findings."""
    about = (finding.distortions for finding in results.findings if finding.on == ON)
    return list(dict.fromkeys([CLEAN, *(distortions[0] for distortions in about if len(distortions) == 1)]))


def _cells(results: Results) -> list[CellRow]:
    """The rows of the `cells` table that the findings rest on, one for each run and distortion."""
    rows = [row for row in cell_rows(results) if row.on == ON]
    return list({(row.model, row.run, row.distortion): row for row in rows}.values())


def positions_with_pictures(results: Results, folders: Sequence[str]) -> list[int]:
    """The positions pictured in most of the columns: audits may have stored single pictures of other samples."""
    thumbs = results.folder.path / "thumbs"
    files = [file for folder in folders if folder for file in (thumbs / folder).glob("*.png")]
    counts = Counter(int(file.stem) for file in files if file.stem.isdecimal())
    return sorted(position for position, count in counts.items() if count == max(counts.values()))


def _choose(results: Results, positions: Sequence[int]) -> dict[int, SampleRow]:
    """Position → sample of up to eight pictured samples: one of each class in turn, classes spread evenly."""
    samples = {p: row for p, row in samples_at(results, positions).items() if not row.error and row.label >= 0}
    by_class: dict[int, list[int]] = {}
    for position, row in samples.items():
        by_class.setdefault(row.label, []).append(position)
    labels = sorted(by_class)
    if len(labels) > PICTURES:
        labels = [labels[i * len(labels) // PICTURES] for i in range(PICTURES)]
    turns = [by_class[label][turn] for turn in range(PICTURES) for label in labels if turn < len(by_class[label])]
    return {p: samples[p] for p in sorted(turns[:PICTURES], key=lambda p: (samples[p].label, p))}


def samples_at(results: Results, positions: Sequence[int]) -> dict[int, SampleRow]:
    """Position in the listing → row of the `samples` table; shards hold the listing in order."""
    size = results.facts.settings.shard
    samples: dict[int, SampleRow] = {}
    for shard in sorted({position // size for position in positions}):
        if file := shard_file(results.folder.path / "samples" / ON, shard):
            table = read_rows(file, ["sample", "label", "class", "error"])
            inside = [position for position in positions if position // size == shard and position % size < len(table)]
            rows = table.take(np.array([position % size for position in inside], np.int64)).to_pylist()
            listed: list[SampleRow] = fit([{**row, "shard": shard} for row in rows], list[SampleRow], file)
            samples |= dict(zip(inside, listed))
    return samples


def _answers(results: Results, samples: Mapping[int, SampleRow]) -> Replies:
    """(cell, sample) → its answer, read from the shards of these samples only."""
    shards = {sample.shard for sample in samples.values()}
    files = [file for file in results.folder.store.files("answers") if shard_of(file) in shards]
    return stored_answers(files, {sample.sample for sample in samples.values()})


def _answer(model: str, cells: Sequence[str], sample: SampleRow, answers: Replies, results: Results) -> Answer:
    """One model's answer: that of most of its runs (the earliest where tied), and how many runs were right."""
    rows = [row for cell in cells if (row := answers.get((cell, sample.sample))) and is_known(row.score)]
    hue = results.own_hue(model)
    if not rows:
        return Answer(UNKNOWN, title=model, hue=hue)
    classes, own = results.data[ON].classes, model_classes(results, model)
    replies = [(answered_class(row, classes, own), row.pred == sample.label) for row in rows]
    (name, right), _ = Counter(replies).most_common(1)[0]
    hits = sum(hit for _, hit in replies)
    return Answer(name, right, f"{hits}/{len(rows)}" if len(rows) > 1 else "", model, hue)
