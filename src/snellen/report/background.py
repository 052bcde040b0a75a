"""The background part of the page: variants, categories, sizes, progress over models, and the published values beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.audits.background import MEANING, WITHOUT_OBJECT
from snellen.audits.background_progress import ALL
from snellen.measure import CATEGORIES
from snellen.models.label_maps.imagenet9 import plain_name
from snellen.report.published import Published, published_table
from snellen.report.table import trust_of
from snellen.report.words import VARIANTS, interval, known, percent

Finding = Mapping[str, Any]
REQUIRED = CATEGORIES[1:3]
ALONE = ("only_bg_b", "only_bg_t")
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


def background_page(results: Mapping[str, Any]) -> dict[str, Any] | None:
    """All that the page shows of backgrounds; None where they were not asked about. Every number is a finding's, or
    a published one."""
    found = [one for one in results["findings"] if one["audit"] == "background"]
    if not found:
        return None
    classes = results["data"]["test"]["classes"]
    models = [_model(name, [one for one in found if one["model"] == name]) for name in results["models"]]
    return {
        "models": models,
        "boxed": any("foreground=box" in text for one in found for text in one["distortions"]),
        "chance": 1 / max(1, len(classes)),
        "meaning": CATEGORY_MEANING,
        "leakage": next((one for one in found if one["name"] == "scale_leakage" and known(one["value"])), None),
        "hole": _hole(models, 1 / max(1, len(classes))),
        "progress": [_line(one) for one in found if one["model"] == ALL and known(one["value"])],
        "published": _published(models, classes),
    }


def background_said(own: Sequence[Finding], data: Mapping[str, Any]) -> str:
    """The verdict's sentences on backgrounds; empty where they were not asked about or nothing is known."""
    held = {one["name"]: one for one in own if one["audit"] == "background" and known(one["value"])}
    gap = held.get("bg_gap")
    if gap is None:
        return ""
    facts = gap["facts"]
    told = (
        f"With other backgrounds of their own class objects are known on {percent(facts['mixed_same'])}, with backgrounds of "
        f"any class on {percent(facts['mixed_rand'])}: a BG-Gap of {100 * gap['value']:.1f} points"
    )
    told += f" (95 % interval {interval(gap['low'], gap['high'], 'difference')})."
    if needs := held.get("needs_background"):
        told += f" {percent(needs['value'])} of the images need their own: right with it, wrong with one of any class."
    if alone := held.get("only_bg_t_accuracy"):
        chance = 1 / max(1, len(data["test"]["classes"]))
        told += f" Backgrounds alone suffice on {percent(alone['value'])} (chance {percent(chance)})."
    return told


def _model(name: str, own: Sequence[Finding]) -> dict[str, Any]:
    held = {one["name"]: one for one in own}
    needs = held["needs_background"]["facts"]
    total = max(1, sum(needs["counts"].values()))
    first = next(one for one in own if "kind" in one["facts"])
    return {
        "model": name,
        "original": first["facts"]["original"],
        "variants": [_variant(one) for one in own if "kind" in one["facts"]],
        **{key: held[key] for key in ("bg_gap", "bg_gap_next", "needs_background", "outline_gain", "size_effect")},
        "categories": [
            {"name": category, "count": count, "share": count / total} for category, count in needs["counts"].items()
        ],
        "classes": len(needs["by_class"]),
        "by_class": _by_class(needs["by_class"]),
        "bins": [one for one in held["size_effect"]["facts"]["bins"] if known(one["value"])],
        "overall": held["size_effect"]["facts"]["overall"],
    }


def _by_class(counts: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    """A row for each class and category; of very many classes those whose images most often need their background."""
    held = {name: (own, sum(own.values())) for name, own in counts.items() if sum(own.values())}
    if len(held) > MOST_CLASSES:

        def need(name: str) -> float:
            own, of = held[name]
            return sum(own[category] for category in REQUIRED) / of

        held = {name: held[name] for name in sorted(held, key=need, reverse=True)[:TOP_CLASSES]}
    return [
        {"class": name, "category": category, "count": count, "share": count / of}
        for name, (own, of) in held.items()
        for category, count in own.items()
    ]


def _variant(one: Finding) -> dict[str, Any]:
    kind, trust = one["facts"]["kind"], trust_of(one)
    return {
        "kind": kind,
        "words": VARIANTS[kind],
        "meaning": MEANING[kind],
        "object": kind not in WITHOUT_OBJECT,
        **{name: one[name] for name in ("value", "low", "high", "n")},
        "mark": trust["mark"] if trust else "",
    }


def _line(one: Finding) -> dict[str, Any]:
    facts = one["facts"]
    words = " less ".join(VARIANTS[kind] for kind in facts["of"].split(" − "))
    if facts["what"] == "gap":
        words = words.replace("background of ", "")
    return {"words": words, **facts, **{name: one[name] for name in ("value", "low", "high", "n")}}


def _published(models: Sequence[Mapping[str, Any]], classes: Sequence[str]) -> dict[str, Any]:
    """Rows of published and own values in per cent, by BG-Gap; `comparable` where the data has the nine classes."""
    names = [plain_name(name) for name in classes]
    rows = [
        {
            "name": model["model"],
            "own": True,
            "source": "this run",
            "note": "",
            "original": _hundred(model["original"]),
            **{one["kind"]: _hundred(one["value"]) for one in model["variants"]},
            "bg_gap": _hundred(model["bg_gap"]["value"]),
        }
        for model in models
        if known(model["bg_gap"]["value"])
    ]
    rows += [_row(row, held, f"table {table}") for table in ("2", "5") for row, held in _main(table).items()]
    rows += [_row(row, held, "README") for row, held in published_table("004", "README").items()]
    return {
        "comparable": len(names) == 9 and None not in names and len(set(names)) == 9,
        "rows": sorted(rows, key=lambda row: row["bg_gap"]),
    }


def _main(table: str) -> dict[str, dict[str, Published]]:
    """The rows of a table that are not also in another."""
    held = published_table("004", table)
    chosen = {"ResNet-50 trained on original", "ResNet-50 trained on mixed_rand"}
    return held if table == "2" else {row: values for row, values in held.items() if row in chosen}


def _row(row: str, held: Mapping[str, Published], source: str) -> dict[str, Any]:
    value = {column: one.value for column, one in held.items()}
    gap = value.get("bg_gap", value["mixed_same"] - value["mixed_rand"])
    note = next(iter(held.values())).note
    kinds = ("original", "mixed_same", "mixed_rand", "only_bg_t")
    shown = {kind: value.get(kind) for kind in kinds}
    return {"name": row, "own": False, "source": source, "note": note, **shown, "bg_gap": gap}


def _hole(models: Sequence[Mapping[str, Any]], chance: float) -> list[dict[str, Any]]:
    """How far answers to backgrounds alone are above guessing; of networks that learnt nothing of backgrounds, which are
    published too, that is what the shape and size of the hole give away."""
    rows = [
        {
            "name": model["model"],
            "own": True,
            "cells": {
                one["kind"]: {name: one[name] - chance for name in ("value", "low", "high")}
                for one in model["variants"]
                if one["kind"] in ALONE and known(one["value"])
            },
        }
        for model in models
    ]
    held = published_table("004", "5")
    for row in ("ResNet-50 trained on only_fg", "ResNet-50 trained on mixed_rand"):
        cells = {kind: {"value": held[row][kind].value / 100 - 1 / 9, "low": None, "high": None} for kind in ALONE}
        rows.append({"name": row, "own": False, "cells": cells})
    return rows


def _hundred(value: float | None) -> float | None:
    return None if value is None else 100 * value
