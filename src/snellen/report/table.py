"""The table of the report: a row per finding, a column per model, and who leads where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from snellen.audits import AUDITS, Baseline
from snellen.audits.label import in_sentence, plain_label
from snellen.report.trust import SIGNS, apart, mark_of
from snellen.report.words import in_words, known

SURE = 0.05  # the corrected p-value under which a difference is called clear
TITLES = {"baseline": Baseline.title, **{name: audit.title for name, audit in AUDITS.items()}}


def table_of(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sections of the table, one per audit: each a title and rows, each row one cell per model (None: not asked)."""
    rows: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for one in results["findings"]:
        # Those between or over several models are told elsewhere, and single squares are the points of the curves.
        if one["model"] in results["models"] and one["name"] != "occluded_accuracy":
            key = (one["audit"], one["name"], one["on"], *one["distortions"])
            rows.setdefault(key, {})[one["model"]] = one
    sections: dict[str, list[dict[str, Any]]] = {}
    for held in rows.values():
        row = _row(held, results)
        sections.setdefault(row["audit"], []).append(row)
    for listed in sections.values():
        listed.sort(key=lambda row: row["name"] == "interference")  # accuracies first, then their DI
    return [{"audit": name, "title": TITLES.get(name, name), "rows": listed} for name, listed in sections.items()]


def numbers_behind(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of single square sizes, which the curves draw."""
    rows: dict[tuple[Any, ...], dict[str, Mapping[str, Any]]] = {}
    for one in results["findings"]:
        if one["name"] == "occluded_accuracy":
            rows.setdefault((one["on"], *one["distortions"]), {})[one["model"]] = one
    return [_row(held, results) for held in rows.values()]


def leader(row: Mapping[str, Any]) -> str | None:
    """The model that is clearly better than every other in a row, if there is one.

    Clearly: by the paired difference on the same images, corrected for many tests, where there is one (accuracies);
    else by intervals that do not overlap.
    """
    cells = {cell["model"]: cell for cell in row["cells"] if cell and known(cell["value"])}
    if len(cells) < 2 or not row["better"]:
        return None
    best = (max if row["better"] == "higher" else min)(cells.values(), key=lambda cell: cell["value"])
    pairs = {frozenset((one["first"], one["second"])): one["p"] for one in row["pairs"]}

    def beaten(cell: Mapping[str, Any]) -> bool:
        p = pairs.get(frozenset((best["model"], cell["model"])))
        return apart(best, cell) if p is None else p < SURE

    return best["model"] if all(cell is best or beaten(cell) for cell in cells.values()) else None


def _row(held: Mapping[str, Mapping[str, Any]], results: Mapping[str, Any]) -> dict[str, Any]:
    first = next(iter(held.values()))
    distorted = [text for text in first["distortions"] if text != "none()"]
    label, topic = named(first)
    head, own = parted({model: one["text"] for model, one in held.items()})
    plain = len(first["distortions"]) == len(distorted) == 1
    row: dict[str, Any] = {
        "audit": first["audit"],
        "name": first["name"],
        "label": label,
        "topic": topic,
        "detail": distorted[0] if plain else head,
        "unit": first["unit"],
        "better": first["better"],
        "cells": [
            {**cell_of(held[model]), "note": "" if plain else own[model]} if model in held else None
            for model in results["models"]
        ],
        "pairs": _pairs(first, results),
    }
    best = leader(row)
    for cell in row["cells"]:
        if cell:
            cell["best"] = cell["model"] == best
    return row


def parted(texts: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """What the findings of several models say alike, and what each says of its own model; cut at `: `, `; ` or ` (`."""
    heads = [{text, *(text[: found.start()] for found in re.finditer(r": |; | \(", text))} for text in texts.values()]
    head = max(set.intersection(*heads), key=len, default="")
    return head, {model: text[len(head) :].lstrip(":; ") for model, text in texts.items()}


def _pairs(of: Mapping[str, Any], results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The paired differences between models for one finding: who, how much, corrected p, what could have been shown."""
    return [
        {
            "first": one["facts"]["first"],
            "second": one["facts"]["second"],
            "value": one["value"],
            "p": one["facts"]["p_corrected"],
            "detectable": one["facts"]["detectable"],
        }
        for one in results["findings"]
        if one["audit"] == "between" and one["facts"]["of"] == of["name"] and one["distortions"] == of["distortions"]
        and one["on"] == of["on"]
    ]  # fmt: skip


def cell_of(finding: Mapping[str, Any]) -> dict[str, Any]:
    """A finding as one cell of a table."""
    return {
        **{name: finding[name] for name in ("model", "value", "low", "high", "n", "unit")},
        "trust": trust_of(finding),
    }


def trust_of(finding: Mapping[str, Any]) -> dict[str, Any] | None:
    """A finding's interference with its mark; None where no distortion is involved."""
    held = finding["interference"]
    if held is None:
        return None
    mark = mark_of(held)
    return {**held, "mark": mark, "sign": SIGNS[mark], "words": in_words(held["distortion"])}


def named(finding: Mapping[str, Any]) -> tuple[str, str]:
    """A row's label, and its topic as a sentence would name it; of a run made before findings had them, by its name."""
    if finding.get("label"):
        return finding["label"], finding["topic"]
    label = plain_label(finding["name"], finding["distortions"], finding["facts"], finding["on"])
    return label, in_sentence(label)
