"""The values of the interference section: DI per distortion, along a setting that varies, and the change by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from snellen import notation
from snellen.audits.exam import YARDSTICK
from snellen.audits.facts import Number
from snellen.audits.interference import InterferenceFacts
from snellen.audits.stored_finding import Mark, StoredFinding, StoredInterference
from snellen.errors import UserError
from snellen.report.results import Results
from snellen.report.words import in_words, is_known

MOST_CLASSES = 20  # up to which every class has its bar
TOP_CLASSES = 15

IndexFinding: TypeAlias = StoredFinding[InterferenceFacts]


@dataclass(frozen=True)
class ModelIndices:
    """Of one model the DI of each distortion, and that of mild noise."""

    model: str
    noise: IndexFinding | None
    findings: tuple[IndexFinding, ...]

    @property
    def every(self) -> tuple[IndexFinding, ...]:
        """Those of the distortions, then that of mild noise."""
        return (*self.findings, *([self.noise] if self.noise else []))

    @property
    def runs(self) -> int:
        return len(self.every[0].per_run)

    @property
    def classes(self) -> int:
        return len(self.every[0].facts.classes)


@dataclass(frozen=True)
class SettingLine:
    """Of one model the DI at each value of a setting, from low to high, and the DI of mild noise."""

    model: str
    noise: Number
    points: tuple[tuple[float, IndexFinding], ...]


@dataclass(frozen=True)
class SettingSweep:
    """Distortions of one `family` that differ in one `setting` alone; `fixed` are their other arguments as text."""

    family: str
    setting: str
    fixed: str
    lines: tuple[SettingLine, ...]


@dataclass(frozen=True)
class ClassBar:
    """The rise in the share of the wrong answers that go to a class, mean and range over runs."""

    name: str
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class ClassBars:
    """The rises by class for one model, of `classes` in all; `noise` is the largest under mild noise."""

    model: str
    runs: int
    classes: int
    bars: tuple[ClassBar, ...]
    interference: StoredInterference | None
    noise: Number


@dataclass(frozen=True)
class DistortionBars:
    """The rises by class under one distortion, a chart for each model."""

    distortion: str
    charts: tuple[ClassBars, ...]

    @property
    def words(self) -> str:
        return in_words(self.distortion)


def indices_of(results: Results) -> list[ModelIndices]:
    """Per model the DI of each distortion, and that of mild noise."""
    models = []
    for model in results.models:
        own = [finding for finding in _known(results) if finding.model == model]
        noise = next((finding for finding in own if _is_yardstick(finding)), None)
        if own:
            models.append(ModelIndices(model, noise, tuple(finding for finding in own if finding is not noise)))
    return models


def sweeps_of(results: Results) -> list[SettingSweep]:
    """Distortions that differ in one number alone, such as `shuffle(2)` and `shuffle(8)`: a curve for each model."""
    families: dict[tuple[str, str, str], dict[str, dict[float, IndexFinding]]] = {}
    for finding in _known(results):
        for family, value in _families(finding.distortions[0]):
            families.setdefault(family, {}).setdefault(finding.model, {})[value] = finding
    return [
        SettingSweep(*family, tuple(_line(model, points) for model, points in models.items()))
        for family, models in families.items()
        if max(map(len, models.values())) > 1
    ]


def bars_of(results: Results) -> list[DistortionBars]:
    """Per distortion and model, the rise in the share of wrong answers by predicted class, mean and range over runs; and the
    largest rise under mild noise beside it."""
    groups: dict[str, list[ClassBars]] = {}
    for finding in results.having(InterferenceFacts):
        classes, runs = finding.facts.classes, finding.facts.increase
        bars = [ClassBar(name, _mean(rises), min(rises), max(rises)) for name, rises in _rises(finding) if rises]
        if len(classes) > MOST_CLASSES:
            bars = sorted(bars, key=lambda bar: -bar.mean)[:TOP_CLASSES]
        noise = noise_rise(results, finding.model)
        chart = ClassBars(finding.model, len(runs), len(classes), tuple(bars), finding.interference, noise)
        groups.setdefault(finding.distortions[0], []).append(chart)
    return [DistortionBars(text, tuple(charts)) for text, charts in groups.items()]


def noise_rise(results: Results, model: str) -> Number:
    """The most that any class gains in its share of the wrong answers under mild noise, mean over runs; None unknown."""
    for finding in results.having(InterferenceFacts):
        if finding.model == model and _is_yardstick(finding):
            return max((_mean(rises) for _, rises in _rises(finding) if rises), default=None)
    return None


def published_index(finding: IndexFinding) -> Number:
    """The point estimate of the paper, which an earlier run has for its value."""
    return finding.value if finding.facts.published_index is None else finding.facts.published_index


def dominant_class(finding: IndexFinding) -> str:
    """The class that takes the new errors; empty where none does."""
    return finding.interference.dominant if finding.interference else ""


def mark_of(finding: IndexFinding) -> Mark:
    """How the DI of a distortion is marked."""
    return finding.interference.mark if finding.interference else ""


def _known(results: Results) -> list[IndexFinding]:
    return [finding for finding in results.having(InterferenceFacts) if is_known(finding.value)]


def _line(model: str, points: dict[float, IndexFinding]) -> SettingLine:
    interference = points[min(points)].interference
    noise = interference.noise if interference else None
    return SettingLine(model, noise, tuple((at, points[at]) for at in sorted(points)))


def _rises(finding: IndexFinding) -> list[tuple[str, list[float]]]:
    """Of each class the rises that are known, one per run."""
    by_class = zip(finding.facts.classes, zip(*finding.facts.increase))
    return [(name, [rise for rise in rises if rise is not None and is_known(rise)]) for name, rises in by_class]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _families(distortion: str) -> list[tuple[tuple[str, str, str], float]]:
    """What a distortion may be a setting of: its name, one number's name and all else that is fixed; and that number."""
    try:
        node = notation.read(distortion)
    except UserError:
        return []
    if not isinstance(node, notation.Call) or distortion == str(YARDSTICK):
        return []
    families = []
    for name, value in node.named:
        if isinstance(value, int | float) and not isinstance(value, bool):
            others = ", ".join(f"{key}={_as_text(other)}" for key, other in node.named if key != name)
            families.append(((node.name, name, others), float(value)))
    return families


def _as_text(value: Any) -> str:
    """A fixed argument as it was written."""
    if not isinstance(value, notation.Call):
        return notation.format_value(value)
    arguments = [_as_text(item) for item in value.positional] + [f"{key}={_as_text(item)}" for key, item in value.named]
    return f"{value.name}({', '.join(arguments)})"


def _is_yardstick(finding: IndexFinding) -> bool:
    return finding.distortions[0] == str(YARDSTICK)
