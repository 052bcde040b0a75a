"""The values of the interference section: DI per distortion, along a setting that varies, and the change by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen import notation
from snellen.audits.exam import YARDSTICK
from snellen.errors import UserError
from snellen.report.results import Finding, Results
from snellen.report.table import trust_of
from snellen.report.words import in_words, is_known

AUDIT = MEASURE = "interference"
MOST_CLASSES = 20  # up to which every class has its bar
TOP_CLASSES = 15
FACTS = ("std", "worst_case", "worst_case_std", "per_run_worst", "per_run_worst_std", "p_uniform", "p_one")


def indices_of(results: Results) -> list[dict[str, Any]]:
    """Per model the DI of each distortion, and that of mild noise."""
    indices = [one for one in results.of_audit(AUDIT) if one["name"] == MEASURE and is_known(one["value"])]
    own = {model: [one for one in indices if one["model"] == model] for model in results.models}
    return [_model(model, findings) for model, findings in own.items() if findings]


def sweeps_of(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Distortions that differ in one number alone, such as `shuffle(2)` and `shuffle(8)`: a curve for each model."""
    families: dict[tuple[str, str, str], dict[str, dict[float, Finding]]] = {}
    for one in findings:
        if one["name"] == MEASURE and is_known(one["value"]):
            for family, value in _families(one["distortions"][0]):
                families.setdefault(family, {}).setdefault(one["model"], {})[value] = one
    return [
        {
            "family": name,
            "setting": setting,
            "fixed": fixed,
            "lines": [
                {
                    "model": model,
                    "noise": (points[min(points)]["interference"] or {}).get("noise"),
                    "points": [{"at": at, **_row(points[at])} for at in sorted(points)],
                }
                for model, points in models.items()
            ],
        }
        for (name, setting, fixed), models in families.items()
        if max(map(len, models.values())) > 1
    ]


def bars_of(results: Results) -> list[dict[str, Any]]:
    """Per distortion and model, the rise in the share of wrong answers by predicted class, mean and range over runs; and the
    largest rise under mild noise beside it."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for one in results.of_audit(AUDIT):
        if one["name"] != MEASURE:
            continue
        classes, runs = one["facts"]["classes"], one["facts"]["increase"]
        bars = []
        for name, rises in zip(classes, zip(*runs)):
            values = [value for value in rises if is_known(value)]
            if values:
                bars.append({"class": name, "mean": sum(values) / len(values), "low": min(values), "high": max(values)})
        if len(classes) > MOST_CLASSES:
            bars = sorted(bars, key=lambda bar: -bar["mean"])[:TOP_CLASSES]
        chart = {
            "model": one["model"],
            "runs": len(runs),
            "classes": len(classes),
            "bars": bars,
            "trust": trust_of(one),
            "noise": noise_rise(results, one["model"]),
        }
        groups.setdefault(one["distortions"][0], []).append(chart)
    return [{"distortion": text, "words": in_words(text), "charts": charts} for text, charts in groups.items()]


def noise_rise(results: Results, model: str) -> float | None:
    """The most that any class gains in its share of the wrong answers under mild noise, mean over runs; None unknown."""
    for one in results.of_audit(AUDIT):
        if one["name"] == MEASURE and one["model"] == model and _is_yardstick(one):
            classes = [[value for value in values if is_known(value)] for values in zip(*one["facts"]["increase"])]
            return max((sum(values) / len(values) for values in classes if values), default=None)
    return None


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
    arguments = [_as_text(one) for one in value.positional] + [f"{key}={_as_text(one)}" for key, one in value.named]
    return f"{value.name}({', '.join(arguments)})"


def _model(name: str, findings: Sequence[Finding]) -> dict[str, Any]:
    noise = next((one for one in findings if _is_yardstick(one)), None)
    return {
        "model": name,
        "runs": len(findings[0]["per_run"]),
        "classes": len(findings[0]["facts"]["classes"]),
        "noise": _row(noise) if noise else None,
        "rows": [_row(one) for one in findings if one is not noise],
    }


def _row(one: Finding) -> dict[str, Any]:
    facts, trust = one["facts"], trust_of(one)
    return {
        "distortion": one["distortions"][0],
        "words": in_words(one["distortions"][0]),
        **{name: one[name] for name in ("value", "low", "high")},
        **{name: facts.get(name) for name in FACTS},
        "published_index": facts.get("published_index", one["value"]),  # which a run of before had for its value
        "nulls": facts.get("nulls", {}),  # a run of before they were measured has none
        "dominant": trust["dominant"] if trust else "",
        "mark": trust["mark"] if trust else "",
    }


def _is_yardstick(one: Finding) -> bool:
    return bool(one["distortions"][0] == str(YARDSTICK))
