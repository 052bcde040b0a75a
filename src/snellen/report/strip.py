"""The strip of a model: one image through the conditions that matter, each with the accuracy under it."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.report.blocks import Answer, Bar, Line, Picture, Shot, Span, Strip
from snellen.report.conditions import PicturedCondition, conditions_of
from snellen.report.pictured import Pictured, SampleRow
from snellen.report.results import AnyFinding
from snellen.report.table import CLEAN
from snellen.report.words import in_unit, in_words, interval, is_known


def strip_of(model: str, pictured: Pictured) -> Strip | None:
    """The unmodified image and each condition that matters; None where no clean accuracy is known. Where there is no picture of
    the image, the numbers stand alone."""
    clean = pictured.results.clean(model)
    if clean is None or not is_known(clean.value):
        return None
    conditions = conditions_of(pictured.results, model)
    sample = telling_sample(model, conditions, pictured)
    hue = pictured.results.hue(model)
    shots = [
        Shot(_picture(model, "test", CLEAN, sample, pictured), "unmodified", *_amount(clean), _bar(clean, None, hue))
    ]
    for condition in conditions:
        picture = _picture(model, condition.on, condition.distortion, sample, pictured)
        bar = _bar(condition.accuracy, condition.clean, hue)
        mark, title = _mark(condition)
        amount, ends = _amount(condition.accuracy)
        shots.append(Shot(picture, condition.words, amount, ends, bar, mark, bool(mark), title))
    return Strip(tuple(shots))


def telling_sample(model: str, conditions: Sequence[PicturedCondition], pictured: Pictured) -> SampleRow | None:
    """The image to show: pictured under most conditions, right when unmodified, and answered as the accuracies tell."""
    listed = {row.sample: row for row in pictured.samples.get("test", {}).values()}
    questions = [("test", CLEAN), *((condition.on, condition.distortion) for condition in conditions)]
    there = [pictured.places(model, on, text) for on, text in questions]
    candidates = [listed[sample] for sample in there[0] if sample in listed]

    def fit(row: SampleRow) -> tuple[int, bool, int]:
        places = sum(row.sample in places for places in there)
        first = pictured.answer(model, "test", CLEAN, row)
        fitting = sum(_fits(condition, model, row, pictured) for condition in conditions)
        return places, bool(first and first.right), fitting

    return max(candidates, key=fit, default=None)  # the first of the listing where several tell the same


def _fits(condition: PicturedCondition, model: str, sample: SampleRow, pictured: Pictured) -> int:
    """How well the answer to an image shows what the accuracy says: 2 for the class that the distortion is taken for."""
    answer = pictured.answer(model, condition.on, condition.distortion, sample)
    if answer is None or answer.right is None:
        return 0
    if condition.taken_for == answer.text and not answer.right:
        return 2
    return int(answer.right == (condition.value >= 0.5))


def _picture(model: str, on: str, distortion: str, sample: SampleRow | None, pictured: Pictured) -> Picture:
    if sample is None:
        return Picture(None, "no picture")
    alt = f"{sample.class_name}: {in_words(distortion)}"
    picture = pictured.picture(model, on, distortion, sample.sample, alt)
    answer = pictured.answer(model, on, distortion, sample) if picture.source else None
    return Picture(picture.source, alt, (_answer(answer),) if answer else ())


def _answer(answer: Answer) -> Answer:
    """The answer without the dot of its model, whose strip it stands in."""
    return Answer(answer.text, answer.right, answer.note, answer.title)


def _amount(finding: AnyFinding) -> tuple[str, str]:
    """A value and its interval as text."""
    return in_unit(finding.value, finding.unit), interval(finding.low, finding.high, finding.unit)


def _bar(finding: AnyFinding, level: float | None, hue: str) -> Bar:
    return Bar(finding.value or 0.0, finding.low, finding.high, level, hue)


def _mark(condition: PicturedCondition) -> tuple[Line, str]:
    """The class that the modification may be taken for, and what is behind it; empty where there is none."""
    name, trust = condition.taken_for, condition.accuracy.interference
    if not name or trust is None:
        return (), ""
    return ("▲ taken for ", Span(name, "bold")), trust.text
