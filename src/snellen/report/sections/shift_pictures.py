"""What segmentation and detection models answer under the worst edits, in pictures (Volpi & Murino 2019, figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from snellen.audits.facts import Number
from snellen.engine.keep.class_colours import class_colour
from snellen.engine.keep.store import truth_key
from snellen.engine.keep.thumbnail_file import encode_thumbnail
from snellen.report.answers import CellRow, Replies, cell_rows, stored_answers
from snellen.report.blocks import (
    Answer,
    Block,
    Bullets,
    Details,
    Gallery,
    Group,
    Heading,
    Picture,
    Row,
    TableCell,
    bold,
    lead,
)
from snellen.report.gallery import ON, positions_with_pictures
from snellen.report.pictured import samples_at
from snellen.report.pictures import address_of
from snellen.report.results import Results
from snellen.report.sections.shift_values import ModelSearch
from snellen.report.table import CLEAN
from snellen.report.words import UNKNOWN, in_words, is_known, percent

PICTURES = {"segmentation": 4, "detection": 8}  # samples
MANY = 12  # classes from which their table is folded away
MOST = 60  # classes that are listed


def picture_blocks(results: Results, searches: Sequence[ModelSearch]) -> list[Block]:
    """Some images with the answers of each model, clean and under the worst edits; nothing where none are stored."""
    columns = _columns(results, searches)
    gallery = _gallery(results, columns)
    if not gallery.rows:
        return []
    edits = Bullets(tuple((bold(head), f": {in_words(text)}") for text, head in columns.items() if text != CLEAN))
    if results.task == "segmentation":
        text = (
            "Some images as the models saw them, the true classes of their pixels, and the classes each model gave them, with "
            "the share of labelled pixels that is right. Light grey has no label."
        )
        return [Heading("Inputs, truth and answers", 3), lead(text), edits, gallery, *_classes(results, searches)]
    text = (
        "Some images as the models saw them. White: the true box, where there is one. Green: found. Red: not found, with what "
        "was detected instead."
    )
    return [Heading("Found and not found", 3), lead(text), edits, gallery]


def _columns(results: Results, searches: Sequence[ModelSearch]) -> dict[str, str]:
    """Distortion → head of its column: clean, then the worst random tuple and the worst of all for each model."""
    columns = {CLEAN: "clean"}
    for search in searches:
        of = f" of {search.model}" if results.several else ""
        if search.random is not None and search.random.facts.edits:
            columns.setdefault(search.random.facts.edits, f"worst random edits{of}")
        columns[search.worst.facts.edits[0]] = f"worst edits{of}"
    return columns


def _gallery(results: Results, columns: Mapping[str, str]) -> Gallery:
    cells: dict[tuple[str, str], CellRow] = {}
    for row in cell_rows(results):
        if row.on == "test":
            cells.setdefault((row.model, row.distortion), row)  # of the first run
    columns = {text: head for text, head in columns.items() if any(key[1] == text for key in cells)}
    first = {text: next(row for key, row in cells.items() if key[1] == text) for text in columns}
    positions = positions_with_pictures(results, [row.shown for row in first.values()])
    samples = {place: sample for place, sample in samples_at(results, positions, ON).items() if not sample.error}
    chosen = dict(list(samples.items())[: PICTURES[results.task]])
    answers = stored_answers(results.folder.store.files("answers"), {sample.sample for sample in chosen.values()})
    rows: list[Row | Group] = []
    alone = results.task == "detection" and not results.several  # a row per sample
    for position, sample in chosen.items():
        if not alone:
            rows.append(Group(sample.sample))
        if results.task == "segmentation":
            for name, folder in (("image", str), ("truth", truth_key)):
                pictures = (_picture(results, folder(row.shown), position, name) for row in first.values())
                rows.append(Row(TableCell(name), tuple(pictures)))
        for model in results.models:
            of_model = [cells.get((model, text)) for text in columns]
            pictures = (_answer_picture(results, row, position, answers, sample.sample) for row in of_model)
            head = TableCell(sample.sample.rpartition("/")[2], title=sample.sample) if alone else TableCell(model)
            rows.append(Row(head, tuple(pictures)))
    heads = (TableCell(""), *map(TableCell, columns.values()))
    return Gallery(heads, tuple(rows), across=2 if alone and len(heads) < 5 else 1, side=112)


def _picture(results: Results, folder: str, position: int, alt: str) -> Picture:
    return Picture(results.thumbnail(folder, position), alt)


def _answer_picture(results: Results, row: CellRow | None, position: int, answers: Replies, sample: str) -> Picture:
    """What a model answered, with its score below."""
    if row is None:
        return Picture(None, "")
    answer = answers.get((row.cell, sample))
    score = answer.score if answer else None
    if not is_known(score):
        reply = Answer(UNKNOWN)
    elif results.task == "segmentation":
        reply = Answer(f"{percent(score)} right")
    else:
        reply = Answer("found" if score == 1 else "not found", score == 1)
    return Picture(results.thumbnail(row.cell, position), f"{row.model} under {row.distortion}", (reply,))


def _classes(results: Results, searches: Sequence[ModelSearch]) -> list[Block]:
    """The colour of each class, and its IoU clean and under the worst edits."""
    head, columns = [TableCell("class"), TableCell("colour")], list[Mapping[str, Number]]()
    for search in searches:
        of = f", {search.model}" if results.several else ""
        head += [TableCell(f"IoU clean{of}"), TableCell(f"IoU under the worst edits{of}")]
        columns += [finding.facts.iou or {} if finding else {} for finding in (search.clean, search.worst)]
    rows = []
    for number, name in enumerate(results.data["test"].classes):
        values = [column.get(name) for column in columns]
        if any(is_known(value) for value in values):
            cells = (TableCell(percent(value) if is_known(value) else UNKNOWN, value) for value in values)
            rows.append(Row(TableCell(name), (Picture(_swatch(number), f"colour of {name}"), *cells)))
    gallery = Gallery(tuple(head), tuple(rows[:MOST]), side=24)
    return [Details(f"{len(rows)} classes with their colours and IoU", (gallery,), open=len(rows) <= MANY)]


def _swatch(number: int) -> str:
    return address_of(encode_thumbnail(np.full((3, 12, 24), np.array(class_colour(number)).reshape(3, 1, 1), np.uint8)))
