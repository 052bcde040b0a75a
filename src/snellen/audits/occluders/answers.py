"""Who said what: the answers of people, from a file or from a model that repeats them, as one row per answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.occluders.rows import OccluderRows, class_names, has_groups
from snellen.audits.occluders.types import OccluderType
from snellen.data.people import PeopleAnswers
from snellen.distort import parse
from snellen.errors import UserError, unknown

PeopleColumns: TypeAlias = dict[str, list[Any]]  # columns observer, sample, label, answer, kind, level, group and hit
NO_ANSWER = ("", "-1")


def groups_column(exam: Exam) -> str | None:
    """The column whose images are drawn together, where images come in groups."""
    return "group" if has_groups(exam) else None


def frame_of_model(exam: Exam, rows: OccluderRows, runs: Sequence[str]) -> PeopleColumns:
    """The answers of a model whose runs are people: everybody saw everything."""
    size = len(rows.id)
    names = class_names(exam, rows.pred)
    return {
        "observer": [run for run in runs for _ in range(size)],
        "answer": names.ravel().tolist(),
        "hit": [float("nan")] * (size * len(runs)),
        **{name: values * len(runs) for name, values in _of_images(exam, rows).items()},
    }


def frame_of_file(
    exam: Exam, answers: PeopleAnswers, rows: OccluderRows, types: Sequence[OccluderType]
) -> PeopleColumns:
    """The answers in a file to the images of `rows`; others, of a distortion that was not shown say, do not count."""
    kinds = {str(occluder.distortion): occluder.name for occluder in types}
    own = {key: place for place, key in enumerate(zip(rows.kind.tolist(), rows.id.tolist()))}
    columns = _of_images(exam, rows)
    frame: PeopleColumns = {name: [] for name in ("observer", "answer", "hit", *columns)}
    texts = {text: str(parse(text or "none()")) for text in dict.fromkeys(answers.distortion)}
    for row, sample in enumerate(answers.sample):
        text = texts[answers.distortion[row]]
        named = ("none", "real") if text == "none()" else (kinds.get(text, ""),)
        place = next((own[name, sample] for name in named if (name, sample) in own), None)
        if place is not None:
            frame["observer"].append(answers.observer[row])
            frame["answer"].append(answers.answer[row])
            frame["hit"].append(float(answers.hit[row]))
            for name, values in columns.items():
                frame[name].append(values[place])
    frame["answer"] = _class_answers(exam, frame["answer"], answers.text)
    return frame


def check_people(exam: Exam, answers: PeopleAnswers) -> None:
    """Refuse a file that has nothing to do with the data: other images, classes or distortions that cannot be read."""
    known = set(exam.samples["test"].ids)
    if not any(sample in known for sample in answers.sample):
        raise UserError(
            f"{answers.text} answers none of the images of {exam.texts.get('test', 'the test data')}; its first sample is "
            f"'{answers.sample[0]}', theirs '{next(iter(exam.samples['test'].ids), '')}'"
        )
    for text in dict.fromkeys(answers.distortion):
        try:
            parse(text or "none()")
        except UserError as error:
            raise UserError(f"{answers.text}: {error}") from None
    _class_answers(exam, list(dict.fromkeys(answers.answer)), answers.text)


def _of_images(exam: Exam, rows: OccluderRows) -> PeopleColumns:
    """The columns that belong to what was shown: its id, label, type, level and group."""
    return {
        "sample": [f"{kind}/{sample}" for kind, sample in rows.images()],
        "label": class_names(exam, rows.label).tolist(),
        "kind": rows.judge.tolist(),
        "level": rows.level.tolist(),
        "group": rows.group.tolist(),
    }


def _class_answers(exam: Exam, answers: list[str], text: str) -> list[str]:
    """Answers as class names, empty for none of them; a number is a place among the classes."""
    classes = list(exam.classes["test"])
    meanings: dict[str, str] = {}
    for answer in dict.fromkeys(answers):
        if answer in classes:
            meanings[answer] = answer
        elif answer in NO_ANSWER:
            meanings[answer] = ""
        elif answer.isascii() and answer.isdecimal() and len(answer) < 9 and int(answer) < len(classes):
            meanings[answer] = classes[int(answer)]
        else:
            raise unknown(f"class in {text}", answer[:200], classes)
    return [meanings[answer] for answer in answers]


def shown_rows(rows: OccluderRows) -> OccluderRows:
    """The rows at a level: what people are scored by."""
    return rows.at(np.flatnonzero(rows.level >= 0))
