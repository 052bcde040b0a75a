"""The interference part of the page: DI per distortion beside mild noise and chance, and along a setting that varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen import notation
from snellen.audits.exam import YARDSTICK
from snellen.errors import UserError
from snellen.report.table import trust_of
from snellen.report.words import in_words, known

Finding = Mapping[str, Any]


def interference_page(results: Mapping[str, Any]) -> dict[str, Any]:
    """`models`: per model the DI of each distortion, and that of mild noise; `sweeps`: DI against what varies."""
    found = [one for one in results["findings"] if one["name"] == "interference" and known(one["value"])]
    return {
        "models": [
            _model(name, own) for name in results["models"] if (own := [f for f in found if f["model"] == name])
        ],
        "sweeps": sweeps_of(found),
    }


def noise_rise(findings: Sequence[Finding], model: str) -> float | None:
    """The most that any class gains in its share of the wrong answers under mild noise, mean over runs; None unknown."""
    for one in findings:
        if one["name"] == "interference" and one["model"] == model and _is_yardstick(one):
            classes = [[value for value in values if known(value)] for values in zip(*one["facts"]["increase"])]
            return max((sum(values) / len(values) for values in classes if values), default=None)
    return None


def sweeps_of(found: Sequence[Finding]) -> list[dict[str, Any]]:
    """Distortions that differ in one number alone, such as `shuffle(2)` and `shuffle(8)`: a curve for each model."""
    families: dict[tuple[str, str, str], dict[str, dict[float, Finding]]] = {}
    for one in found:
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


def _families(distortion: str) -> list[tuple[tuple[str, str, str], float]]:
    """What a distortion may be a setting of: its name, one number's name and all else that is fixed; and that number."""
    try:
        node = notation.read(distortion)
    except UserError:
        return []
    if not isinstance(node, notation.Call) or distortion == str(YARDSTICK):
        return []
    told = []
    for name, value in node.named:
        if isinstance(value, int | float) and not isinstance(value, bool):
            others = ", ".join(f"{key}={_shown(held)}" for key, held in node.named if key != name)
            told.append(((node.name, name, others), float(value)))
    return told


def _shown(value: Any) -> str:
    """A fixed argument as it was written."""
    if not isinstance(value, notation.Call):
        return notation.format_value(value)
    given = [_shown(held) for held in value.positional] + [f"{key}={_shown(held)}" for key, held in value.named]
    return f"{value.name}({', '.join(given)})"


def _model(name: str, own: Sequence[Finding]) -> dict[str, Any]:
    noise = next((one for one in own if _is_yardstick(one)), None)
    return {
        "model": name,
        "runs": len(own[0]["per_run"]),
        "classes": len(own[0]["facts"]["classes"]),
        "noise": _row(noise) if noise else None,
        "rows": [_row(one) for one in own if one is not noise],
    }


def _row(one: Finding) -> dict[str, Any]:
    facts, trust = one["facts"], trust_of(one)
    return {
        "distortion": one["distortions"][0],
        "words": in_words(one["distortions"][0]),
        **{name: one[name] for name in ("value", "low", "high")},
        **{name: facts.get(name) for name in ("std", "worst_case", "worst_case_std", "p_uniform", "p_one")},
        "nulls": facts.get("nulls", {}),  # a run of before they were measured has none
        "dominant": trust["dominant"] if trust else "",
        "mark": trust["mark"] if trust else "",
    }


def _is_yardstick(one: Finding) -> bool:
    return bool(one["distortions"][0] == str(YARDSTICK))
