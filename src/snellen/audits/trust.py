"""Beside every distortion-based number: the interference of its distortion (contract 8)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.facts import UNSET, Number, UnsetType
from snellen.audits.finding import Finding, Trust
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import (
    Chance,
    Estimate,
    Interference,
    Kind,
    State,
    chance_of,
    published_chance,
    state_of,
)
from snellen.measure.interference_chance import null_between
from snellen.measure.interference_estimate import interference_between
from snellen.measure.interference_noise import agreement_of
from snellen.measure.wrong_answers import WrongAnswers, conditions

CAVEAT = "to compare between models, not a score"
ONE_RUN = "one run: no spread over runs"
MILD_NOISE = "mild noise (σ up to 0.025 of the pixel range, our choice)"
NO_YARDSTICK = Estimate(math.nan, math.nan, math.nan, 0)  # of recorded answers that have none under mild noise
TOO_FEW = "with two classes no dominant class can be shown: a wrong answer has only the other one to fall on"


class NullFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What errors at random give as the DI as published: p, the share of draws that reach it, then mean, deviation and 95%
    quantile of the draws."""

    p: Number
    mean: Number
    std: Number
    quantile95: Number


class PublishedNullFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The DI of chance as B.2 would state it, all repetitions pooled."""

    mean: Number
    std: Number
    standard_error: Number


class PublishedNulls(msgspec.Struct, frozen=True, kw_only=True):
    """The two chances of B.2: every error on a random class, and all errors of a run on one."""

    uniform: PublishedNullFacts
    one: PublishedNullFacts


class InterferenceNulls(msgspec.Struct, frozen=True, kw_only=True):
    """The DI of chance in numbers (Marcu & Prügel-Bennett 2022, B.2).

    `uniform` and `one` keep the clean errors, the runs and the number of errors, `uniform` also how far runs make the same
    errors; `…_without_clean_errors` are the paper's own; `published` is what B.2 would state for these classes and errors,
    its repetitions pooled, where a class can be shown to dominate.
    """

    uniform: NullFacts
    uniform_without_clean_errors: NullFacts
    one: NullFacts
    one_without_clean_errors: NullFacts
    published: PublishedNulls | UnsetType = UNSET


def interference_of(exam: Exam, answers: Answers, cell: Cell) -> Interference:
    """The DI of one cell's distortion for one model, over its runs."""

    return answers.once(("interference", cell), lambda: interference_between(*_errors(exam, answers, cell)))


def _errors(exam: Exam, answers: Answers, cell: Cell) -> tuple[WrongAnswers, WrongAnswers]:
    """The errors on unmodified images and on those of a cell; several measures rest on them, and they are counted once."""

    def count() -> tuple[WrongAnswers, WrongAnswers]:
        clean, distorted = answers.together(exam.clean(exam.unmodified(cell)), cell)
        classes = len(_classes(exam, cell))
        return conditions(clean.pred, distorted.pred, clean.labels, classes, None, "errors", clean.groups)

    return answers.once(("errors", cell), count)


def chance_in(exam: Exam, answers: Answers, cell: Cell, kind: Kind = "uniform", clean_errors: bool = True) -> Chance:
    """Where a cell's DI stands among those of errors thrown at random; nan where there are fewer than three classes."""

    def measure() -> Chance:
        thrown = np.empty(0)
        if can_dominate(exam, cell):
            clean, distorted = _errors(exam, answers, cell)
            agreement = agreement_of(distorted) if clean_errors and distorted.samples else 0.0  # 0: as in the paper
            thrown = null_between(clean, distorted, kind, clean_errors, agreement)
        return chance_of(interference_of(exam, answers, cell).index, thrown)

    return answers.once(("chance", cell, kind, clean_errors), measure)


def nulls_in(exam: Exam, answers: Answers, cell: Cell) -> InterferenceNulls:
    """What chance gives in the place of a cell's DI, in numbers."""

    def null(kind: Kind, clean_errors: bool) -> NullFacts:
        chance = chance_in(exam, answers, cell, kind, clean_errors)
        return NullFacts(p=chance.p, mean=chance.mean, std=chance.std, quantile95=chance.quantile95)

    def published(kind: Kind) -> PublishedNullFacts:
        errors = _errors(exam, answers, cell)[1].histogram.sum(axis=1)
        return PublishedNullFacts(**vars(published_chance(errors, len(_classes(exam, cell)), kind)))

    return InterferenceNulls(
        uniform=null("uniform", True),
        uniform_without_clean_errors=null("uniform", False),
        one=null("one", True),
        one_without_clean_errors=null("one", False),
        published=PublishedNulls(uniform=published("uniform"), one=published("one"))
        if can_dominate(exam, cell)
        else UNSET,
    )


def _classes(exam: Exam, cell: Cell) -> Sequence[str]:
    return exam.classes[exam.unmodified(cell)]


def can_dominate(exam: Exam, cell: Cell) -> bool:
    """Whether a class can be shown to dominate: with two, all that one loses the other gains, whatever the cause."""
    return len(_classes(exam, cell)) > 2


def dominant_in(exam: Exam, answers: Answers, cell: Cell) -> str:
    """The name of the class that takes the new errors; empty where none does or none can be shown to."""
    dominant = interference_of(exam, answers, cell).dominant
    return _classes(exam, cell)[dominant] if dominant >= 0 and can_dominate(exam, cell) else ""


def trust_in(exam: Exam, answers: Answers, cell: Cell) -> Trust:
    """The interference of a cell beside its null and the yardstick, with a flag in plain words."""
    return answers.once(("trust", cell), lambda: _trust(exam, answers, cell))


def _trust(exam: Exam, answers: Answers, cell: Cell) -> Trust:
    di, chance = interference_of(exam, answers, cell), chance_in(exam, answers, cell)
    yardstick = exam.yardstick(exam.unmodified(cell))
    noise = interference_of(exam, answers, yardstick) if yardstick in answers else NO_YARDSTICK
    dominant = dominant_in(exam, answers, cell)
    state = state_of(di, noise, chance.p)  # never above without a p, as with two classes
    return Trust(
        index=di.value,
        low=di.low,
        high=di.high,
        std=di.std,
        worst_case=di.worst_case,
        null95=chance.quantile95,
        noise=noise.value,
        dominant=dominant,
        flagged=state == "above",
        distortion=cell.on if exam.is_stored(cell) else str(cell.distortion),
        text=_in_words(di, noise, dominant, state) if can_dominate(exam, cell) else _of_two(di, noise.value),
        state=state,
        published=di.index,
    )


def with_trust(exam: Exam, answers: Answers, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, each with the strongest interference among the distortions it rests on."""
    if exam.task != "classification":
        return list(findings)  # interference is about classes of images
    trusted = []
    for finding in findings:
        distorted = [cell for cell in finding.cells if exam.modified(cell)]
        trusts = [trust_in(exam, answers, cell) for cell in distorted]
        trusted.append(finding.trusting(strongest(trusts)) if trusts else finding)
    return trusted


def strongest(trusts: Sequence[Trust]) -> Trust:
    """The one of highest index, flagged ones first; one without images says nothing and comes last."""
    return max(trusts, key=lambda trust: (trust.flagged, np.nan_to_num(trust.index, nan=-1.0)))


def _in_words(di: Interference, noise: Estimate, dominant: str, state: State) -> str:
    """One sentence a reader can act on."""
    if not np.isfinite(di.index):
        return "no images: interference unknown"
    numbers = f"{interval_in_words(di)}{_beside(noise.value)}; {CAVEAT}"
    if state == "not above":
        return f"no sign that the distortion itself is taken for a class ({numbers})"
    if state == "unclear":
        why = "cannot be told from chance"
        if di.beyond_chance:
            why = f"cannot be told from {MILD_NOISE}" if np.isfinite(noise.value) else "is more than by chance"
        return f"whether the distortion itself is taken for a class is unclear: its DI {why} ({numbers})"
    rise = 100 * float(di.increase[:, di.dominant].mean())
    return f"the distortion itself looks like '{dominant}' to this model: +{rise:.0f} points of its errors go there ({numbers})"


def interval_in_words(di: Interference) -> str:
    """The estimate with its interval, and the paper's point estimate by its name."""
    interval = f", {di.low:.2f} to {di.high:.2f}" if np.isfinite(di.low) else ""
    return f"DI {di.value:.2f}{interval} (as published: {di.index:.2f})"


def _of_two(di: Interference, noise: float) -> str:
    """The sentence for two classes, or one."""
    if not np.isfinite(di.index):
        return "no images: interference unknown"
    return f"{TOO_FEW} (DI {di.value:.2f}{_beside(noise)}; {CAVEAT})"


def _beside(noise: float) -> str:
    """The DI of mild noise, to be read beside another; recorded answers, such as people's, may have none under it."""
    return f", {MILD_NOISE} {noise:.2f}" if np.isfinite(noise) else ", no answers under mild noise to compare with"
