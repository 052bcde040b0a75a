"""Progress on backgrounds: what better models gain on each variant, over any list of models (Xiao et al. 2021, figure 8)."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Literal

from snellen.audits.background_facts import ProgressFacts, ProgressPoint, VariantFacts
from snellen.audits.finding import Finding, finding
from snellen.distort.language import VARIANTS
from snellen.engine.keep.read_back import Answers
from snellen.measure import trend

FEWEST = 3  # models that a line can be wrong about
ALL = "all models"
GAPS = {
    "mixed_same − mixed_rand": ("mixed_same", "mixed_rand"),
    "mixed_rand − mixed_next": ("mixed_rand", "mixed_next"),
    "mixed_same − mixed_next": ("mixed_same", "mixed_next"),
}
LINES = VARIANTS | {
    "mixed_same − mixed_rand": "the same class minus any class",
    "mixed_rand − mixed_next": "any class minus the next class",
    "mixed_same − mixed_next": "the same class minus the next class",
}
"""What lines are about, in words: a variant's accuracy, or the gap between two."""


def progress(everyone: Sequence[Answers], findings: Sequence[Finding], kinds: Sequence[str]) -> list[Finding]:
    """For every variant and every gap between mixed ones: the slope of its accuracy over clean accuracy, one point per model."""
    models = [answers.model for answers in everyone]
    if len(models) < FEWEST:
        return []
    clean: dict[str, float] = {}
    by_kind: dict[str, dict[str, float]] = {}
    for variant in findings:
        if isinstance(facts := variant.facts, VariantFacts):
            clean[variant.model] = nan if facts.original is None else facts.original
            by_kind.setdefault(facts.kind, {})[variant.model] = variant.value
    lines = [
        _line(kind, "accuracy", {model: (clean[model], by_kind[kind][model]) for model in models}) for kind in kinds
    ]
    for of, (first, second) in GAPS.items():
        gaps = {model: (clean[model], by_kind[first][model] - by_kind[second][model]) for model in models}
        lines.append(_line(of, "gap", gaps))
    return lines


def _line(of: str, what: Literal["accuracy", "gap"], points: dict[str, tuple[float, float]]) -> Finding:
    """The line through each model's clean accuracy and value."""
    line = trend(*zip(*points.values()))
    text = f"{of}: {what} gained for every point of clean accuracy gained, over {line.n} models"
    facts = ProgressFacts(
        of=of,
        what=what,
        intercept=line.intercept,
        points=[ProgressPoint(model=model, clean=clean, value=value) for model, (clean, value) in points.items()],
    )
    label = f"Progress: {VARIANTS.get(of, of)}"
    return finding("background", "progress", ALL, line, text, unit="index", facts=facts, label=label)
