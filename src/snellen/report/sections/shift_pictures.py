"""What segmentation and detection models answer under the worst edits, in pictures (Volpi & Murino 2019, figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from snellen.engine.keep.class_colours import class_colour
from snellen.engine.keep.store import truth_key
from snellen.engine.keep.thumbnail_file import encode_thumbnail
from snellen.report.answers import cell_rows, stored_answers
from snellen.report.blocks import (
    Answer,
    Block,
    Bullets,
    Cell,
    Details,
    Gallery,
    Group,
    Heading,
    Picture,
    Row,
    bold,
    lead,
)
from snellen.report.gallery import positions_with_pictures, samples_at
from snellen.report.pictures import address_of
from snellen.report.results import Finding, Results
from snellen.report.table import CLEAN
from snellen.report.words import UNKNOWN, in_words, is_known, percent

PICTURES = {"segmentation": 4, "detection": 8}  # samples
MANY = 12  # classes from which their table is folded away
MOST = 60  # classes that are listed


def picture_blocks(results: Results, worst: Sequence[Finding]) -> list[Block]:
    """Some images with the answers of each model, clean and under the worst edits; nothing where none are stored."""
    columns = _columns(results, worst)
    gallery = _gallery(results, columns)
    if not gallery.rows:
        return []
    edits = Bullets(tuple((bold(head), f": {in_words(text)}") for text, head in columns.items() if text != CLEAN))
    if results.task == "segmentation":
        text = (
            "Some images as the models saw them, the true classes of their pixels, and the classes each model gave them, with "
            "the share of labelled pixels that is right. Light grey has no label."
        )
        return [Heading("Inputs, truth and answers", 3), lead(text), edits, gallery, *_classes(results, worst)]
    text = (
        "Some images as the models saw them. White: the true box, where there is one. Green: found. Red: not found, with what "
        "was detected instead."
    )
    return [Heading("Found and not found", 3), lead(text), edits, gallery]


def _columns(results: Results, worst: Sequence[Finding]) -> dict[str, str]:
    """Distortion → head of its column: clean, then the worst random tuple and the worst of all for each model."""
    columns = {CLEAN: "clean"}
    for one in worst:
        of = f" of {one['model']}" if results.several else ""
        chance = next((f for f in results.of_model(one["model"]) if f["name"] == "random_worst"), None)
        if chance is not None and "edits" in chance["facts"]:
            columns.setdefault(chance["facts"]["edits"], f"worst random edits{of}")
        columns[one["facts"]["edits"][0]] = f"worst edits{of}"
    return columns


def _gallery(results: Results, columns: Mapping[str, str]) -> Gallery:
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for row in cell_rows(results):
        if row["on"] == "test":
            cells.setdefault((row["model"], row["distortion"]), row)  # of the first run
    columns = {text: head for text, head in columns.items() if any(key[1] == text for key in cells)}
    first = {text: next(row for key, row in cells.items() if key[1] == text) for text in columns}
    positions = positions_with_pictures(results, [row["shown"] for row in first.values()])
    samples = {place: one for place, one in samples_at(results, positions).items() if not one["error"]}
    chosen = dict(list(samples.items())[: PICTURES[results.task]])
    answers = stored_answers(results.folder.store.files("answers"), {one["sample"] for one in chosen.values()})
    rows: list[Row | Group] = []
    alone = results.task == "detection" and not results.several  # a row per sample
    for position, sample in chosen.items():
        if not alone:
            rows.append(Group(sample["sample"]))
        if results.task == "segmentation":
            for name, folder in (("image", str), ("truth", truth_key)):
                pictures = (_picture(results, folder(row["shown"]), position, name) for row in first.values())
                rows.append(Row(Cell(name), tuple(pictures)))
        for model in results.models:
            of_model = [cells.get((model, text)) for text in columns]
            pictures = (_answer_picture(results, row, position, answers, sample["sample"]) for row in of_model)
            head = Cell(sample["sample"].rpartition("/")[2], title=sample["sample"]) if alone else Cell(model)
            rows.append(Row(head, tuple(pictures)))
    heads = (Cell(""), *map(Cell, columns.values()))
    return Gallery(heads, tuple(rows), across=2 if alone and len(heads) < 5 else 1, side=112)


def _picture(results: Results, folder: str, position: int, alt: str) -> Picture:
    return Picture(results.thumbnail(folder, position), alt)


def _answer_picture(
    results: Results,
    row: Mapping[str, Any] | None,
    position: int,
    answers: Mapping[tuple[str, str], Mapping[str, Any]],
    sample: str,
) -> Picture:
    """What a model answered, with its score below."""
    if row is None:
        return Picture(None, "")
    score = answers.get((row["cell"], sample), {}).get("score")
    if not is_known(score):
        reply = Answer(UNKNOWN)
    elif results.task == "segmentation":
        reply = Answer(f"{percent(score)} right")
    else:
        reply = Answer("found" if score == 1 else "not found", score == 1)
    return Picture(results.thumbnail(row["cell"], position), f"{row['model']} under {row['distortion']}", (reply,))


def _classes(results: Results, worst: Sequence[Finding]) -> list[Block]:
    """The colour of each class, and its IoU clean and under the worst edits."""
    clean = {one["model"]: results.clean(one["model"]) for one in worst}
    head, columns = [Cell("class"), Cell("colour")], []
    for one in worst:
        of = f", {one['model']}" if results.several else ""
        before = clean[one["model"]]
        head += [Cell(f"IoU clean{of}"), Cell(f"IoU under the worst edits{of}")]
        columns += [{} if before is None else before["facts"].get("iou", {}), one["facts"].get("iou", {})]
    rows = []
    for number, name in enumerate(results.data["test"]["classes"]):
        values = [column.get(name) for column in columns]
        if any(is_known(value) for value in values):
            cells = (Cell(percent(value) if is_known(value) else UNKNOWN, value) for value in values)
            rows.append(Row(Cell(name), (Picture(_swatch(number), f"colour of {name}"), *cells)))
    gallery = Gallery(tuple(head), tuple(rows[:MOST]), side=24)
    return [Details(f"{len(rows)} classes with their colours and IoU", (gallery,), open=len(rows) <= MANY)]


def _swatch(number: int) -> str:
    return address_of(encode_thumbnail(np.full((3, 12, 24), np.array(class_colour(number)).reshape(3, 1, 1), np.uint8)))
