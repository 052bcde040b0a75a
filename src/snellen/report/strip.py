"""The strip of a model: one image through the conditions that matter, each with the accuracy under it."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.report.blocks import Answer, Bar, Line, Picture, Shot, Span, Strip
from snellen.report.conditions import Accuracy, Condition
from snellen.report.pictured import Pictured, SampleRow
from snellen.report.results import AnyFinding, Results
from snellen.report.table import CLEAN
from snellen.report.words import in_unit, interval, is_known

UNMODIFIED = "unmodified"


def strip_of(model: str, conditions: Sequence[Condition], pictured: Pictured) -> Strip | None:
    """The unmodified image and each condition; None where no clean accuracy is known. Conditions without a picture of the image
    have their numbers alone."""
    results = pictured.results
    clean = results.clean(model)
    if clean is None or not is_known(clean.value):
        return None
    sample = telling_sample(model, conditions, pictured)
    shots = [_shot(clean, UNMODIFIED, _picture(model, "test", CLEAN, sample, pictured), results, None)]
    for condition in conditions:
        picture = _picture(model, condition.on, condition.distortion, sample, pictured)
        shots.append(_shot(condition.accuracy, condition.words, picture, results, clean.value))
    return Strip(tuple(shots))


def telling_sample(model: str, conditions: Sequence[Condition], pictured: Pictured) -> SampleRow | None:
    """The image to show: pictured under most conditions, right when unmodified, and answered as the accuracies tell."""
    listed = {row.sample: row for row in pictured.samples.get("test", {}).values()}
    asked = [("test", CLEAN), *((condition.on, condition.distortion) for condition in conditions)]
    there = [pictured.places(model, on, text) for on, text in asked]
    candidates = [listed[sample] for sample in there[0] if sample in listed]

    def told(row: SampleRow) -> tuple[int, bool, int]:
        places = sum(row.sample in places for places in there)
        first = pictured.answer(model, "test", CLEAN, row)
        fitting = sum(_fits(condition, model, row, pictured) for condition in conditions)
        return places, bool(first and first.right), fitting

    return max(candidates, key=told, default=None)  # the first of the listing where several tell the same


def _fits(condition: Condition, model: str, sample: SampleRow, pictured: Pictured) -> int:
    """How well the answer to an image shows what the accuracy says: 2 for the class that the distortion is taken for."""
    answer = pictured.answer(model, condition.on, condition.distortion, sample)
    if answer is None or answer.right is None:
        return 0
    if taken_for(condition.accuracy) == answer.text and not answer.right:
        return 2
    return int(answer.right == (condition.value >= 0.5))


def taken_for(finding: AnyFinding) -> str:
    """The class that a flagged distortion may be taken for; empty where nothing is flagged."""
    trust = finding.interference
    return trust.taken_for if trust is not None and trust.mark == "flagged" else ""


def _picture(model: str, on: str, distortion: str, sample: SampleRow | None, pictured: Pictured) -> Picture:
    if sample is None:
        return Picture(None, "no picture")
    alt = f"{sample.class_name}: {UNMODIFIED if distortion == CLEAN else distortion}"
    picture = pictured.picture(model, on, distortion, sample.sample, alt)
    answer = pictured.answer(model, on, distortion, sample) if picture.source else None
    return Picture(picture.source, alt, (_answer(answer),) if answer else ())


def _answer(answer: Answer) -> Answer:
    """The answer without the dot of its model, whose strip it stands in."""
    return Answer(answer.text, answer.right, answer.note, answer.title)


def _shot(finding: Accuracy, words: str, picture: Picture, results: Results, clean: float | None) -> Shot:
    ends = interval(finding.low, finding.high, finding.unit)
    bar = Bar(finding.value or 0.0, finding.low, finding.high, clean, results.hue(finding.model))
    name, trust = taken_for(finding), finding.interference
    mark: Line = ("▲ taken for ", Span(name, "bold")) if name else ()
    title = trust.text if trust is not None and name else ""
    return Shot(picture, words, in_unit(finding.value, finding.unit), ends, bar, mark, bool(name), title)
