"""The chapter of examples: telling images, what models said when they were wrong, occluded images, and all distortions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from snellen.audits.occluders.levels import LevelAccuracyFacts
from snellen.audits.occluders.types import levels_of_words
from snellen.engine.keep.shard_file import read_rows, read_schema, shard_files
from snellen.report.blocks import Answer, Block, FactLine, Gallery, Heading, Picture, Row, TableCell, lead
from snellen.report.conditions import conditions_of
from snellen.report.gallery import ON, gallery_of
from snellen.report.pictured import Pictured, SampleRow
from snellen.report.results import Results
from snellen.report.table import CLEAN
from snellen.report.telling import (
    UnmodifiedAnswers,
    best_model,
    clean_answers,
    confident_mistakes,
    only_right,
    samples_by_level,
)
from snellen.report.words import in_words, percent

WRONG = 5  # wrong answers shown of a condition


def example_blocks(pictured: Pictured) -> list[Block]:
    """Galleries of images with the classes each model answers; nothing where no pictures are stored."""
    results = pictured.results
    if results.task != "classification":
        return []  # its answers are pictures of their own, in the section of the audit
    everyone = clean_answers(results)
    return [
        *_mistakes(everyone, pictured),
        *_only_best(everyone, pictured),
        *_wrong_under(pictured),
        *_levels(pictured),
        *_everything(pictured),
    ]


def _mistakes(everyone: Mapping[str, UnmodifiedAnswers], pictured: Pictured) -> list[Block]:
    """Each model's most confident mistakes on unmodified images."""
    rows = []
    for model, answers in everyone.items():
        samples = confident_mistakes(answers)
        if pictures := [picture for sample in samples if (picture := _judged(model, sample, answers, pictured))]:
            rows.append(Row(TableCell(model, hue=pictured.results.own_hue(model)), tuple(pictures)))
    if not rows:
        return []
    runs = " by every run" if pictured.results.repeated else ""
    return [
        Heading("The most confident mistakes"),
        lead(f"Unmodified images answered wrongly{runs}, those first of which the model was surest."),
        _gallery("model", rows),
    ]


def _only_best(everyone: Mapping[str, UnmodifiedAnswers], pictured: Pictured) -> list[Block]:
    """The images that one model gets and no other."""
    best = best_model(everyone)
    if best is None:
        return []
    others = [answers for model, answers in everyone.items() if model != best]
    samples = only_right(everyone[best], others)
    rows = []
    for model in pictured.results.models:
        pictures = [picture for sample in samples if (picture := _judged(model, sample, everyone[model], pictured))]
        if pictures:
            rows.append(Row(TableCell(model, hue=pictured.results.own_hue(model)), tuple(pictures)))
    if not rows:
        return []
    return [
        Heading(f"Images that only {best} gets"),
        lead(
            f"Unmodified images that {best}, right on the most of them, answers correctly and every other model wrongly."
        ),
        _gallery("model", rows),
    ]


def _judged(model: str, sample: str, answers: UnmodifiedAnswers, pictured: Pictured) -> Picture | None:
    """An unmodified image with its class, and the answer with the model's confidence; None where no picture is stored."""
    row = _row(pictured, sample)
    if row is None:
        return None
    picture = pictured.picture(model, ON, CLEAN, sample, row.class_name)
    answer = pictured.answer(model, ON, CLEAN, row)
    if picture.source is None or answer is None:
        return None
    sure = answers.confidence[answers.ids == sample]
    note = percent(float(sure[0]), 0) if len(sure) else ""
    return replace(picture, answers=(Answer(f"is {row.class_name}"), replace(answer, note=note, hue="")))


def _row(pictured: Pictured, sample: str) -> SampleRow | None:
    return next((row for row in pictured.samples.get(ON, {}).values() if row.sample == sample), None)


def _wrong_under(pictured: Pictured) -> list[Block]:
    """What each model said of images that it gets wrong under the conditions of its strip."""
    blocks: list[Block] = []
    for model in pictured.results.models:
        rows = []
        for condition in conditions_of(pictured.results, model):
            pictures = _wrong(model, condition.on, condition.distortion, pictured)
            if pictures:
                rows.append(Row(TableCell(condition.words), tuple(pictures)))
        if rows:
            blocks += [_gallery(model if pictured.results.several else "condition", rows)]
    if not blocks:
        return []
    return [
        Heading("What was said when it was wrong"),
        lead("Some images answered wrongly under the conditions of the first screen, with the answers."),
        *blocks,
    ]


def _wrong(model: str, on: str, distortion: str, pictured: Pictured) -> list[Picture]:
    listed = {row.sample: row for row in pictured.samples.get(on, {}).values()}
    pictures = []
    for sample in pictured.places(model, on, distortion):
        answer = pictured.answer(model, on, distortion, listed[sample])
        if answer is None or answer.right is not False:
            continue
        row = listed[sample]
        picture = pictured.picture(model, on, distortion, sample, f"{row.class_name}: {in_words(distortion)}")
        pictures.append(replace(picture, answers=(Answer(f"is {row.class_name}"), replace(answer, hue=""))))
        if len(pictures) == WRONG:
            break
    return pictures


def _levels(pictured: Pictured) -> list[Block]:
    """Images of each level of real occlusion with the answers; nothing of data without levels."""
    results = pictured.results
    names = {finding.facts.level: finding.facts.level_name for finding in results.having(LevelAccuracyFacts)}
    first = next(iter(results.models))
    rows = []
    for level, samples in _by_level(results).items():
        pictures = []
        for sample in samples:
            row = _row(pictured, sample)
            picture = (
                None if row is None else pictured.picture(first, ON, CLEAN, sample, f"{row.class_name}, level {level}")
            )
            if row is None or picture is None or picture.source is None:
                continue
            answers = [pictured.answer(model, ON, CLEAN, row) for model in results.models]
            pictures.append(replace(picture, answers=tuple(answer for answer in answers if answer is not None)))
        if pictures:
            name = names.get(level, "")
            rows.append(
                Row(TableCell(f"level {level}", note=f"{name} hidden" if level and name else name), tuple(pictures))
            )
    if not rows:
        return []
    return [
        Heading("Occluded when the images were taken"),
        lead("Some unmodified images of each level of real occlusion, with the answers."),
        FactLine(results.keys()),
        _gallery("", rows),
    ]


def _by_level(results: Results) -> dict[int, list[str]]:
    """Level → the images of it that are pictured."""
    ids: list[str] = []
    labels: list[int] = []
    levels: list[int] = []
    for file in shard_files(results.folder.path / "samples" / ON):
        if "level" not in read_schema(file).names:
            return {}
        table = read_rows(file, ["sample", "label", "level"]).to_pydict()
        ids += table["sample"]
        labels += table["label"]
        levels += levels_of_words(table["level"]).tolist()
    return samples_by_level(ids, np.array(labels, np.int64), np.array(levels, np.int64))


def _everything(pictured: Pictured) -> list[Block]:
    """Some images under every distortion, with the answers of all models."""
    results = pictured.results
    gallery = gallery_of(pictured)
    if not gallery.rows:
        return []
    first = " (pictures of the first model where sizes differ)" if results.several else ""
    most = ", the answer of most runs and how many runs were right" if results.repeated else ""
    return [
        Heading("The same images under every distortion"),
        lead(f"Some images as the models saw them{first}, with their answers: ✓ right, ✗ wrong{most}."),
        FactLine(results.keys()),
        gallery,
    ]


def _gallery(head: str, rows: Sequence[Row]) -> Gallery:
    """Rows of pictures of different lengths, without heads of their columns."""
    width = max(row.width for row in rows)
    return Gallery((TableCell(head), *[TableCell("")] * (width - 1)), tuple(rows))
