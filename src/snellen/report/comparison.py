"""The models side by side: a row per model, as papers compare architectures (paper 000, B.8)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from snellen.report.table import cell_of, named
from snellen.report.words import known

Finding = Mapping[str, Any]


def comparison_of(results: Mapping[str, Any]) -> dict[str, Any] | None:
    """`columns` and per model its `runs` and `cells`: clean, shuffled and covered accuracy and iOcclusion, what was asked.

    None for a single model, or where nothing but clean accuracy is known.
    """
    models = results["models"]
    kinds = [found for wanted in COLUMNS if (found := _column(results["findings"], wanted))]
    if len(models) < 2 or len(kinds) < 2:
        return None
    return {
        "columns": [named(next(iter(column.values())))[0] for column in kinds],
        "rows": [
            {"model": model, "runs": len(runs), "cells": [_cell(column.get(model)) for column in kinds]}
            for model, runs in models.items()
        ],
    }


def _column(findings: Sequence[Finding], wanted: Callable[[Finding], bool]) -> dict[str, Finding]:
    """Of the first question that fits and was answered, each model's finding."""
    fitting = [one for one in findings if wanted(one) and one["on"] in ("test", "") and known(one["value"])]
    same = [one for one in fitting if one["distortions"] == fitting[0]["distortions"]]
    return {one["model"]: one for one in reversed(same) if one["name"] == fitting[0]["name"]}


def _cell(one: Finding | None) -> dict[str, Any] | None:
    if one is None:
        return None
    told = [value for value in one["per_run"] if known(value)]
    return {**cell_of(one), "std": statistics.stdev(told) if len(told) > 1 else None}


def _shuffled(one: Finding) -> bool:
    accuracies = ("shuffled_accuracy", "distorted_accuracy")
    return (
        one["name"] in accuracies and one["distortions"][0].startswith("shuffle(") and "|" not in one["distortions"][0]
    )


# What each column takes, the first that was asked for: a run may hold several grids, fills or maskings.
COLUMNS: tuple[Callable[[Finding], bool], ...] = (
    lambda one: one["name"] == "accuracy",
    _shuffled,
    lambda one: one["name"] == "cut_occlusion",
    lambda one: one["name"] == "mean_iocclusion",
)
