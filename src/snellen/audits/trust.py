"""Beside every distortion-based number: the interference of its distortion (contract 8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from snellen.audits.exam import Exam
from snellen.audits.finding import Finding, Trust
from snellen.distort import Nothing
from snellen.engine.answers import Answers
from snellen.engine.cell import Cell
from snellen.measure import Interference, interference, interference_null

CAVEAT = "comparative, not absolute"


def interference_of(exam: Exam, answers: Answers, cell: Cell) -> Interference:
    """The DI of one cell's distortion for one model, over its runs."""

    def measured() -> Interference:
        clean, distorted = answers.together(exam.clean(cell.on), cell)
        return interference(clean.pred, distorted.pred, clean.labels, len(exam.classes[cell.on]))

    return answers.once(("interference", cell), measured)


def trust_in(exam: Exam, answers: Answers, cell: Cell) -> Trust:
    """The interference of a cell beside its null and the yardstick, with a flag in plain words."""
    return answers.once(("trust", cell), lambda: _trust(exam, answers, cell))


def _trust(exam: Exam, answers: Answers, cell: Cell) -> Trust:
    clean, distorted = answers.together(exam.clean(cell.on), cell)
    classes = exam.classes[cell.on]
    measured = interference_of(exam, answers, cell)
    null = interference_null(clean.pred, distorted.pred, clean.labels, len(classes))
    null95 = float(np.quantile(null, 0.95)) if np.isfinite(null).all() and len(null) else float("nan")
    noise = interference_of(exam, answers, exam.yardstick(cell.on)).index
    dominant = classes[measured.dominant] if measured.dominant >= 0 else ""
    flagged = bool(measured.index > null95 and measured.index > noise)
    return Trust(
        index=measured.index,
        low=measured.low,
        high=measured.high,
        std=measured.std,
        worst_case=measured.worst_case,
        null95=null95,
        noise=noise,
        dominant=dominant,
        flagged=flagged,
        distortion=str(cell.distortion),
        text=_said(measured, dominant, flagged, null95, noise),
    )


def with_trust(exam: Exam, answers: Answers, findings: Sequence[Finding]) -> list[Finding]:
    """The findings, each with the strongest interference among the distortions it rests on."""
    told = []
    for one in findings:
        distorted = [cell for cell in one.cells if not isinstance(cell.distortion, Nothing)]
        if distorted:
            trusts = [trust_in(exam, answers, cell) for cell in distorted]
            one = one.trusting(max(trusts, key=lambda trust: (trust.flagged, trust.index)))
        told.append(one)
    return told


def _said(measured: Interference, dominant: str, flagged: bool, null95: float, noise: float) -> str:
    """One sentence a reader can act on."""
    if not np.isfinite(measured.index):
        return "no images: interference unknown"
    numbers = f"DI {measured.index:.2f}, chance up to {null95:.2f}, mild noise {noise:.2f}; {CAVEAT}"
    if not flagged:
        return f"no sign that the distortion itself is taken for a class ({numbers})"
    rise = 100 * float(measured.increase[:, measured.dominant].mean())
    return f"the distortion itself looks like '{dominant}' to this model: +{rise:.0f} points of its errors go there ({numbers})"
