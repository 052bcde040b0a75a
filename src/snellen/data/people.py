"""Answers of people: who said what to which image, from a CSV or Parquet file.

Columns: `sample` (the data's id), `pred` (or `answer`: class name or number; empty or −1 is none of them), optional `observer`
(who answered; one person where there is none), `distortion` (text form; default none()) and `hit` or `on_target` (1 where a
click lay on the object, 0 beside it). The export of a study is such a file; its other columns are not read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.data.names import storable
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.files.places import is_file
from snellen.files.table import Column, read_table

PREFIX = "predictions:"  # the same columns as those of recorded answers, which may be named as such
SCHEMA = {
    "sample": Column(required=True, filled=True),
    "pred": Column(required=True, also="answer"),
    "observer": Column(filled=True),
    "distortion": Column(),
    "hit": Column("float", least=0, most=1, also="on_target"),
}


@dataclass(frozen=True)
class PeopleAnswers:
    """Columns of one length, a row per answer; `hit` is nan where there was no click."""

    text: str
    sample: tuple[str, ...]
    answer: tuple[str, ...]
    observer: tuple[str, ...]
    distortion: tuple[str, ...]
    hit: np.ndarray

    def __len__(self) -> int:
        return len(self.sample)


def read_people(text: str) -> PeopleAnswers:
    """The answers in a file, as they are written; which classes and images they name is the audit's business."""
    path = expand_home(text.removeprefix(PREFIX))
    if not is_file(path):
        raise UserError(
            f"no file '{text}' of people's answers, nor a model of this name; give a CSV or the name of a model"
        )
    table = read_table(path, SCHEMA, "file of people's answers")
    if table.empty:
        raise UserError(f"{path} has no answers; expected one row per answer")
    size = len(table)

    def column(name: str, otherwise: str) -> tuple[str, ...]:
        if name not in table.columns:
            return (otherwise,) * size
        return tuple(storable(value).strip() for value in table[name])

    hit = table["hit"].to_numpy(np.float64) if "hit" in table.columns else np.full(size, np.nan)
    names = {"sample": "", "pred": "", "observer": "people", "distortion": ""}
    sample, answer, observer, distortion = (column(name, otherwise) for name, otherwise in names.items())
    return PeopleAnswers(text, sample, answer, observer, distortion, hit)


def right_answers(text: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The columns observer, sample, label and answer of a study's export, and the label of each image.

    An image under a distortion is an image of its own, named by both.
    """
    path = expand_home(text)
    table = read_table(path, {**SCHEMA, "label": Column(required=True, filled=True)}, "file of people's answers")
    answers = read_people(text)
    labels = [storable(label).strip() for label in table["label"]]
    names = [
        sample if distortion in ("", "none()") else f"{sample} {distortion}"
        for sample, distortion in zip(answers.sample, answers.distortion)
    ]
    columns = {"observer": list(answers.observer), "sample": names, "label": labels, "answer": list(answers.answer)}
    return columns, dict(zip(names, labels))
