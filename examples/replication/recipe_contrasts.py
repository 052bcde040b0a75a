"""Each recipe less the first one, with the interval of the recipe: other runs of it, on other images.

Two parts make the interval, each with its own quantile, as in `snellen.measure.recipe_accuracy` (Zou & Donner 2008): the spread
over runs by Student's t, and the interval of the same difference over images. The spread over runs is taken to be one for all
recipes of a measure, since a few runs of one recipe do not show its own; a difference is clear where the interval leaves out 0.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, variance

from scipy.optimize import brentq
from scipy.stats import norm, t

HALF = float(norm.ppf(0.975))
Kept = Mapping[str, str]


@dataclass(frozen=True)
class Column:
    """A measure by one attribution method, on all images or on those that section 5.1 chooses; `scale` to what is printed."""

    name: str
    method: str = ""
    chosen: bool = False
    scale: float = 100.0


@dataclass(frozen=True)
class Contrast:
    """A recipe less the first: value, 95% interval, p-value, and whether all of its runs lie on one side of the first's."""

    value: float
    low: float
    high: float
    p: float
    apart: bool

    @property
    def clear(self) -> bool:
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Findings:
    """The kept findings of `interpretability.py`."""

    rows: Sequence[Kept]

    def row(self, column: Column, model: str) -> Kept | None:
        """The finding of a model; None where it was not measured."""
        own = (row for row in self._named(column.name, column.method) if row["model"] == model)
        return next((row for row in own if (row["filter"] == "on") == column.chosen), None)

    def value(self, column: Column, model: str) -> float:
        row = self.row(column, model)
        return math.nan if row is None else column.scale * float(row["value"])

    def runs(self, column: Column, model: str) -> list[float]:
        """What the runs gave; nothing where they were not kept."""
        row = self.row(column, model)
        return [] if row is None else [column.scale * float(text) for text in row["per_run"].split()]

    def models(self) -> list[str]:
        return list(dict.fromkeys(row["model"] for row in self._named("accuracy", "")))

    def names(self, prefix: str) -> list[str]:
        return list(dict.fromkeys(row["name"] for row in self.rows if row["name"].startswith(prefix)))

    @property
    def has_pairs(self) -> bool:
        """Whether accuracies were compared on the same images."""
        return bool(self._named("difference", ""))

    def image_error(self, column: Column, model: str, first: str) -> float:
        """The standard error over images of the difference; of accuracies without pairs that of two that share no image, which
        is more, and 0 for counts of units, which no image was drawn for."""
        own = self.row(column, first)
        name = "difference" if column.name == "accuracy" else f"{column.name}_difference"
        for row in self._named(name, column.method) if own is not None else ():
            if row["model"] in (model, f"{first} − {model}") and row["n"] == own["n"]:
                return column.scale * _error(row)
        ends = (self.row(column, name) for name in (model, first) if column.name == "accuracy")
        return math.hypot(*(column.scale * _error(row) for row in ends if row is not None), 0.0)

    def _named(self, name: str, method: str) -> list[Kept]:
        return [row for row in self.rows if row["name"] == name and row["method"] == method]


def _error(row: Kept) -> float:
    return (float(row["high"]) - float(row["low"])) / 2 / HALF


def read_findings(file: Path) -> Findings:
    with file.open(newline="", encoding="utf-8") as source:
        return Findings(list(csv.DictReader(source)))


def contrast(findings: Findings, column: Column, model: str) -> Contrast | None:
    """The difference of a recipe to the first one; None where there are no runs to tell it from."""
    models = findings.models()
    by_model = {name: findings.runs(column, name) for name in models}
    own, first = by_model.get(model, []), by_model[models[0]]
    spreads = [runs for runs in by_model.values() if len(runs) > 1]
    if not own or not first or not spreads:
        return None
    degrees = sum(len(runs) - 1 for runs in spreads)
    pooled = sum((len(runs) - 1) * variance(runs) for runs in spreads) / degrees
    of_runs = math.sqrt(pooled * (1 / len(own) + 1 / len(first)))
    of_images = findings.image_error(column, model, models[0])
    value = fmean(own) - fmean(first)

    def half(alpha: float) -> float:
        return math.hypot(t.ppf(1 - alpha / 2, degrees) * of_runs, norm.ppf(1 - alpha / 2) * of_images)

    apart = min(own) > max(first) or max(own) < min(first)
    return Contrast(value, value - half(0.05), value + half(0.05), _level(abs(value), half), apart)


def _level(distance: float, half: Callable[[float], float]) -> float:
    """The p-value: the level whose interval ends at 0."""
    if distance == 0:
        return 1.0
    smallest = 1e-12
    if half(smallest) <= distance:
        return smallest
    return float(brentq(lambda alpha: half(alpha) - distance, smallest, 1 - 1e-12))


def corrected(values: Iterable[Contrast | None]) -> set[int]:
    """The places of the contrasts that stay clear by Holm's rule over all of them."""
    known = sorted(((one.p, place) for place, one in enumerate(values) if one is not None))
    clear = set()
    for rank, (p, place) in enumerate(known):
        if p > 0.05 / (len(known) - rank):
            break
        clear.add(place)
    return clear
