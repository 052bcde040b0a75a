"""The values of the background section: variants, categories and sizes of each model, and fits over models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.audits.background_progress import ALL
from snellen.measure import CATEGORIES
from snellen.report.results import Finding, Results
from snellen.report.table import trust_of
from snellen.report.words import VARIANTS, is_known

AUDIT = "background"
REQUIRED = CATEGORIES[1:3]
MOST_CLASSES, TOP_CLASSES = 20, 15  # up to how many classes each has its bar, and how many have one beyond that
CATEGORY_MEANING = dict(
    zip(
        CATEGORIES,
        (
            "right or wrong, whatever the background",
            "right, and the background alone suffices, but the object on another one does not",
            "right only with both: neither the background alone nor the object on another one suffices",
            "wrong, but right once the background is another one",
            "wrong, though the background alone and the object on another one are both right",
        ),
    )
)


def background_values(results: Results) -> dict[str, Any] | None:
    """All that the section draws of this run; None without the audit of backgrounds. Every number is a finding's."""
    findings = results.of_audit(AUDIT)
    if not findings:
        return None
    return {
        "models": [_model(name, [one for one in findings if one["model"] == name]) for name in results.models],
        "boxed": any("foreground=box" in text for one in findings for text in one["distortions"]),
        "chance": results.chance(),
        "leakage": next((one for one in findings if one["name"] == "scale_leakage" and is_known(one["value"])), None),
        "progress": [_line(one) for one in findings if one["model"] == ALL and is_known(one["value"])],
    }


def _model(name: str, findings: Sequence[Finding]) -> dict[str, Any]:
    named = {one["name"]: one for one in findings}
    needs = named["needs_background"]["facts"]
    total = max(1, sum(needs["counts"].values()))
    first = next(one for one in findings if "kind" in one["facts"])
    return {
        "model": name,
        "original": first["facts"]["original"],
        "variants": [_variant(one) for one in findings if "kind" in one["facts"]],
        "bg_gap": named["bg_gap"],
        "needs_background": named["needs_background"],
        "categories": [
            {"name": category, "count": count, "share": count / total} for category, count in needs["counts"].items()
        ],
        "classes": len(needs["by_class"]),
        "by_class": _by_class(needs["by_class"]),
        "bins": [one for one in named["size_effect"]["facts"]["bins"] if is_known(one["value"])],
        "overall": named["size_effect"]["facts"]["overall"],
    }


def _by_class(counts: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    """A row for each class and category; of very many classes those whose images most often need their background."""
    classes = {name: (own, sum(own.values())) for name, own in counts.items() if sum(own.values())}
    if len(classes) > MOST_CLASSES:

        def need(name: str) -> float:
            own, of = classes[name]
            return sum(own[category] for category in REQUIRED) / of

        classes = {name: classes[name] for name in sorted(classes, key=need, reverse=True)[:TOP_CLASSES]}
    return [
        {"class": name, "category": category, "count": count, "share": count / of}
        for name, (own, of) in classes.items()
        for category, count in own.items()
    ]


def _variant(one: Finding) -> dict[str, Any]:
    kind, trust = one["facts"]["kind"], trust_of(one)
    return {
        "kind": kind,
        "words": VARIANTS[kind],
        **{name: one[name] for name in ("value", "low", "high", "n")},
        "mark": trust["mark"] if trust else "",
    }


def _line(one: Finding) -> dict[str, Any]:
    facts = one["facts"]
    words = " less ".join(VARIANTS[kind] for kind in facts["of"].split(" − "))
    if facts["what"] == "gap":
        words = words.replace("background of ", "")
    return {"words": words, **facts, **{name: one[name] for name in ("value", "low", "high", "n")}}
