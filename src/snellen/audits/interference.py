"""Data interference of any distortions: which of them a model takes for a class (Marcu & Prügel-Bennett 2022, section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from snellen.audits.audit import Audit
from snellen.audits.exam import PUBLISHED_NOISE, YARDSTICK, Exam
from snellen.audits.facts import FindingFacts, Number
from snellen.audits.finding import Finding, accuracy_finding, finding
from snellen.audits.run_facts import RunFacts
from snellen.audits.trust import (
    CAVEAT,
    ONE_RUN,
    TOO_FEW,
    InterferenceNulls,
    can_dominate,
    dominant_in,
    interference_of,
    nulls_in,
)
from snellen.distort import Fourier, Occlude, Shuffle, Uniform
from snellen.distort.language import in_words, parse_each
from snellen.distort.raster import expect_grid
from snellen.engine.keep.read_back import Answers
from snellen.engine.requests.cell import Cell
from snellen.measure import Interference

SIGMAS = {  # where noise is evidence, whose sigma it has
    YARDSTICK: "the yardstick, with a sigma of our choice, made so that CIFAR-10 networks have an index of about 0.1; "
    "the published sigma is up to 0.1, in units that cannot be told",
    PUBLISHED_NOISE: "the published sigma, read as 0.1 of the pixel range; which units were meant cannot be told",
}


class InterferenceFacts(FindingFacts, frozen=True, kw_only=True):
    """The DI as published with its deviation over runs, its worst cases, and the DI that would mostly be seen.

    `worst_case` takes the dominant class's highest rise in any run, `per_run_worst` lets each run have a class of its own.
    `increase` is [runs][classes], the rise in the share of the wrong answers that go to each of `classes`. Runs of before the
    value undid what chance adds have the index as published for their value, and less beside it.
    """

    published_index: Number = None
    std: Number
    worst_case: Number
    worst_case_std: Number
    per_run_worst: Number = None
    per_run_worst_std: Number = None
    detectable: Number = None
    dominant: str
    p_uniform: Number
    p_one: Number
    nulls: InterferenceNulls | None = None
    classes: list[str]
    increase: list[list[Number]]


@dataclass(frozen=True)
class InterferenceAudit(Audit):
    """The DI index of each distortion, with the accuracy it would explain away.

    By default patch shuffling (`grid`; 2×2 below 32 pixels, 4×4 from there), the large square of table 3 and a Fourier
    mask over half the image; `distortions` names others. `sweep` adds further settings, such as grids from coarse to
    fine: `sweep=[shuffle(2), shuffle(4), shuffle(8)]`; those that differ in one number are drawn as one curve.
    `published_noise=true` adds noise with the published sigma, up to 0.1, beside the milder noise that is the yardstick.
    """

    distortions: tuple[Any, ...] = ()
    grid: int | None = None
    sweep: tuple[Any, ...] = ()
    published_noise: bool = False
    title: ClassVar[str] = "Data interference (DI)"
    names: ClassVar[tuple[str, ...]] = ("interference", "distorted_accuracy")
    facts: ClassVar[Mapping[str, type[FindingFacts]]] = {
        "interference": InterferenceFacts,
        "distorted_accuracy": RunFacts,
    }
    by_default: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "distortions", parse_each(self.distortions))
        object.__setattr__(self, "sweep", parse_each(self.sweep))
        if self.grid is not None:
            expect_grid(self.grid)

    def distortions_for(self, exam: Exam) -> list[Any]:
        """The distortions to measure, each once."""
        grid = self.grid or (4 if exam.side >= 32 else 2)
        default = (Shuffle(grid), Occlude(Uniform(0.7, 1), "black", inside=False), Fourier(0.5))
        noise = [PUBLISHED_NOISE] if self.published_noise else []
        return list(dict.fromkeys([*(self.distortions or default), *self.sweep, *noise]))

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.cell(distortion) for distortion in self.distortions_for(exam)]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        findings = []
        yardstick = [exam.yardstick()] if exam.yardstick() in answers else []
        for cell in dict.fromkeys([*yardstick, *self.cells(exam)]):
            findings.append(_index_finding(exam, answers, cell))
            if cell != exam.yardstick():
                text, words = f"accuracy under {cell.distortion}", in_words(str(cell.distortion))
                findings.append(
                    accuracy_finding(
                        "interference", "distorted_accuracy", answers.model, answers[cell], cell, text,
                        label=f"Accuracy: {words}", topic=words,
                    )
                )  # fmt: skip
        return findings


def _index_finding(exam: Exam, answers: Answers, cell: Cell) -> Finding:
    """The DI of one distortion, with its worst case over runs and what chance would give."""
    di = interference_of(exam, answers, cell)
    dominant = dominant_in(exam, answers, cell) or "none"
    nulls = nulls_in(exam, answers, cell)
    notes = [_class_in_words(di, dominant, nulls.uniform.p) if can_dominate(exam, cell) else TOO_FEW]
    notes += [f"as published {di.index:.2f}"] if np.isfinite(di.index) else []
    notes += [ONE_RUN] if len(di.per_run) == 1 else []
    notes += [SIGMAS[cell.distortion]] if cell.distortion in SIGMAS else []
    words = in_words(str(cell.distortion))
    return finding(
        "interference",
        "interference",
        answers.model,
        di,
        f"DI index of {cell.distortion}; {'; '.join(notes)} ({CAVEAT})",
        better="lower",
        unit="index",
        cells=(cell,),
        label=f"New errors on one class (DI): {words}",
        topic=f"the DI of {words}",
        per_run=tuple(di.per_run.tolist()),
        facts=InterferenceFacts(
            published_index=di.index,
            std=di.std,
            worst_case=di.worst_case,
            worst_case_std=di.worst_case_std,
            per_run_worst=di.per_run_worst,
            per_run_worst_std=di.per_run_worst_std,
            detectable=di.detectable,
            dominant=dominant,
            p_uniform=nulls.uniform.p,
            p_one=nulls.one.p,
            nulls=nulls,
            classes=list(exam.classes[cell.on]),
            increase=np.round(di.increase, 5).tolist(),
        ),
    )


def _class_in_words(di: Interference, dominant: str, p: Number) -> str:
    if np.isfinite(di.low) and not di.beyond_chance:
        seen = f": below {di.detectable:.2f} it would often go unseen" if np.isfinite(di.detectable) else ""
        return f"cannot be told from chance{seen}; highest class {dominant}{_by_chance(p)}"
    return f"dominant class {dominant}{_by_chance(p)}"


def _by_chance(p: Number) -> str:
    return f", p = {p:.3f} for errors at random" if p is not None and np.isfinite(p) else ""
