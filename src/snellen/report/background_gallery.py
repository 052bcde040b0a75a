"""The examples of each background category: the image, its object on another background, its background alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.engine.keep.run_folder import RunFolder
from snellen.engine.keep.store import read_rows
from snellen.report.gallery import picture
from snellen.report.words import VARIANTS

KINDS = ("original", "mixed_rand", "only_bg_t")


def background_gallery(run: RunFolder, results: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Model → one entry a category: its name and rows of three pictures, each with the first run's answer."""
    needs = {
        one["model"]: one
        for one in results["findings"]
        if one["audit"] == "background" and one["name"] == "needs_background" and one["facts"].get("examples")
    }
    if not needs:
        return {}
    wanted = {
        sample
        for one in needs.values()
        for shown in one["facts"]["examples"].values()
        for example in shown
        for sample in example["samples"].values()
    }
    places = _places(run, wanted)
    cells = _cells(run)
    answers = _answers(run, wanted)
    classes = results["data"]["test"]["classes"]
    told = {}
    for model, one in needs.items():
        asked = dict(zip(KINDS, _asked(one)))
        told[model] = [
            {
                "category": category,
                "rows": [
                    {
                        "class": example["class"],
                        "cells": [
                            _cell(run, cells, places, answers, classes, model, asked[kind], sample, example["class"])
                            for kind, sample in example["samples"].items()
                        ],
                    }
                    for example in shown
                ],
            }
            for category, shown in one["facts"]["examples"].items()
        ]
    return told


def heads() -> list[str]:
    """The heads of the three columns."""
    return ["the image", *(VARIANTS[kind] for kind in KINDS[1:])]


def _asked(needs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(role, distortion) of the three cells; stored variants have a role of their own, and no distortion."""
    roles = needs["facts"].get("roles", ["test"] * len(KINDS))
    return list(zip(roles, needs["distortions"]))


def _cell(
    run: RunFolder,
    cells: Sequence[Mapping[str, Any]],
    places: Mapping[tuple[str, str], int],
    answers: Mapping[tuple[str, str], int],
    classes: Sequence[str],
    model: str,
    asked: tuple[str, str],
    sample: str,
    label: str,
) -> dict[str, Any]:
    """One picture and what the model's first run said to it."""
    fitting = [row for row in cells if (row["on"], row["distortion"]) == asked]
    own = [row for row in fitting if row["model"] == model]
    place = places.get((asked[0], sample))
    pictures = [] if place is None else [picture(run.store.thumbnail(row["shown"], place)) for row in fitting[:1]]
    pred = answers.get((own[0]["cell"], sample)) if own else None
    said = None if pred is None else classes[pred] if 0 <= pred < len(classes) else "another class"
    return {"picture": pictures[0] if pictures else None, "answer": said, "right": said == label}


def _cells(run: RunFolder) -> list[dict[str, Any]]:
    """The rows of the `cells` table with the run's seed; models and runs in the order they were asked in."""
    (file,) = run.store.files("cells")
    facts = run.facts
    order = {name: place for place, name in enumerate((m, r) for m, runs in facts["asked"].items() for r in runs)}
    rows = [row for row in read_rows(file).to_pylist() if row["seed"] == facts["settings"]["seed"]]
    rows = [row for row in rows if (row["model"], row["run"]) in order]
    return sorted(rows, key=lambda row: order[row["model"], row["run"]])


def _places(run: RunFolder, wanted: set[str]) -> dict[tuple[str, str], int]:
    """(role, sample) → position in the listing; shards hold it in order."""
    places: dict[tuple[str, str], int] = {}
    for on in run.facts["data"]:
        files = sorted((run.path / "samples" / on).glob("*.parquet"), key=lambda file: int(file.stem.partition("-")[0]))
        start = 0
        for file in files:
            samples = read_rows(file, ["sample"])["sample"].to_pylist()
            places |= {(on, sample): start + row for row, sample in enumerate(samples) if sample in wanted}
            start += len(samples)
    return places


def _answers(run: RunFolder, wanted: set[str]) -> dict[tuple[str, str], int]:
    """(cell, sample) → predicted class."""
    import pyarrow.compute as pc

    held: dict[tuple[str, str], int] = {}
    if not wanted:
        return held
    for file in run.store.files("answers"):
        table = read_rows(file, ["cell", "sample", "pred"], filters=pc.field("sample").isin(sorted(wanted)))
        held |= {(row["cell"], row["sample"]): row["pred"] for row in table.to_pylist()}
    return held
