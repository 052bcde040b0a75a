"""The gallery: a few images under every distortion with each model's answer, from stored thumbnails and answers."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snellen.engine.keep.run_folder import RunFolder
from snellen.engine.keep.store import read_rows, shard_file, shard_of
from snellen.report.trust import SIGNS, mark_of
from snellen.report.words import in_words

PICTURES = 8
SMALL_PNG = 6_000  # bytes above which a thumbnail is packed as JPEG


def gallery_of(run: RunFolder, results: Mapping[str, Any], on: str = "test") -> dict[str, Any]:
    """Columns (distortions, clean first) and rows (samples) of pictures with the answers of each model."""
    if on not in results["data"]:
        return {"columns": [], "rows": []}
    distortions = _columns(results, on)
    cells = _cells(run, results, on)
    shown = {text: next((row["shown"] for row in cells if row["distortion"] == text), "") for text in distortions}
    samples = _chosen(run, _pictured(run, list(shown.values())), on)
    answers = _answers(run, {row["cell"] for row in cells}, samples)
    classes = results["data"][on]["classes"]
    rows = []
    for position, sample in samples.items():
        pictures = []
        for text in distortions:
            asked = {
                model: [row["cell"] for row in cells if row["distortion"] == text and row["model"] == model]
                for model in results["models"]
            }
            pictures.append(
                {
                    "picture": picture(run.store.thumbnail(shown[text], position)),
                    "answers": [_said(model, keys, sample, answers, classes) for model, keys in asked.items() if keys],
                }
            )
        rows.append({"sample": sample["sample"], "class": sample["class"], "cells": pictures})
    return {"columns": [_column(text, results) for text in distortions], "rows": rows}


def _columns(results: Mapping[str, Any], on: str) -> list[str]:
    """Clean, then every distortion in the order of the findings."""
    single = (one["distortions"][0] for one in results["findings"] if one["on"] == on and len(one["distortions"]) == 1)
    return list(dict.fromkeys(["none()", *single]))


def _column(text: str, results: Mapping[str, Any]) -> dict[str, Any]:
    """A column's head, and the models for which its distortion is marked."""
    marks = {
        one["model"]: SIGNS[mark_of(one["interference"])]
        for one in results["findings"]
        if one["distortions"] == [text] and one["interference"]
    }
    return {"distortion": text, "words": in_words(text), "marks": {m: sign for m, sign in marks.items() if sign}}


def _cells(run: RunFolder, results: Mapping[str, Any], on: str) -> list[dict[str, Any]]:
    """The rows of the `cells` table that the findings rest on, in the order of the models."""
    files = run.store.files("cells")
    rows = read_rows(files[0]).to_pylist() if files else []
    seed = run.facts["settings"]["seed"]
    order = {
        (model, name): i for i, (model, name) in enumerate((m, r) for m, rs in results["models"].items() for r in rs)
    }
    fitting = {
        (row["model"], row["run"], row["distortion"]): row
        for row in rows
        if row["on"] == on and row["seed"] == seed and (row["model"], row["run"]) in order
    }
    return sorted(fitting.values(), key=lambda row: order[row["model"], row["run"]])


def _pictured(run: RunFolder, shown: Sequence[str]) -> list[int]:
    """The positions pictured in most of the columns: audits may have asked for single pictures of other samples."""
    counts = Counter(int(file.stem) for key in shown if key for file in (run.path / "thumbs" / key).glob("*.png"))
    return sorted(position for position, count in counts.items() if count == max(counts.values()))


def _chosen(run: RunFolder, positions: Sequence[int], on: str) -> dict[int, dict[str, Any]]:
    """Position → sample of up to eight pictured samples: one of each class in turn, classes spread evenly."""
    held = {p: row for p, row in _samples(run, on, positions).items() if not row["error"]}
    by_class: dict[int, list[int]] = {}
    for position, row in held.items():
        by_class.setdefault(row["label"], []).append(position)
    labels = sorted(by_class)
    if len(labels) > PICTURES:
        labels = [labels[i * len(labels) // PICTURES] for i in range(PICTURES)]
    turns = [by_class[label][turn] for turn in range(PICTURES) for label in labels if turn < len(by_class[label])]
    return {p: held[p] for p in sorted(turns[:PICTURES], key=lambda p: (held[p]["label"], p))}


def _samples(run: RunFolder, on: str, positions: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Position in the listing → row of the `samples` table; shards hold the listing in order."""
    size = run.facts["settings"]["shard"]
    held: dict[int, dict[str, Any]] = {}
    for shard in sorted({position // size for position in positions}):
        if file := shard_file(run.path / "samples" / on, shard):
            table = read_rows(file, ["sample", "label", "class", "error"])
            inside = [position for position in positions if position // size == shard and position % size < len(table)]
            rows = table.take([position % size for position in inside]).to_pylist()
            held |= {position: {**row, "shard": shard} for position, row in zip(inside, rows)}
    return held


def _answers(
    run: RunFolder, cells: set[str], samples: Mapping[int, Mapping[str, Any]]
) -> dict[tuple[str, str], dict[str, Any]]:
    """(cell, sample) → its answer, read from the shards of these samples only."""
    import pyarrow.compute as pc

    shards = {sample["shard"] for sample in samples.values()}
    wanted = sorted({sample["sample"] for sample in samples.values()})
    held: dict[tuple[str, str], dict[str, Any]] = {}
    for file in run.store.files("answers"):
        if shard_of(file) in shards:
            table = read_rows(file, ["cell", "sample", "pred", "score"], filters=pc.field("sample").isin(wanted))
            held |= {(row["cell"], row["sample"]): row for row in table.to_pylist() if row["cell"] in cells}
    return held


def _said(
    model: str,
    cells: Sequence[str],
    sample: Mapping[str, Any],
    answers: Mapping[tuple[str, str], Mapping[str, Any]],
    classes: Sequence[str],
) -> dict[str, Any]:
    """One model's answer: that of most of its runs (the earliest where tied), and how many runs were right."""
    given = [answers[cell, sample["sample"]] for cell in cells if (cell, sample["sample"]) in answers]
    given = [row for row in given if row["score"] is not None and row["score"] == row["score"]]
    if not given:
        return {"model": model, "answer": None, "right": None, "runs_right": 0, "runs": 0}
    pred = Counter(row["pred"] for row in given).most_common(1)[0][0]
    return {
        "model": model,
        "answer": classes[pred] if 0 <= pred < len(classes) else "another class",
        "right": pred == sample["label"],
        "runs_right": sum(row["pred"] == sample["label"] for row in given),
        "runs": len(given),
    }


def picture(path: Path) -> str | None:
    """A thumbnail as a data address: small ones as they are, photos packed as JPEG."""
    if not path.exists():
        return None
    content, kind = path.read_bytes(), "png"
    if len(content) > SMALL_PNG:
        from PIL import Image

        packed = io.BytesIO()
        Image.open(io.BytesIO(content)).convert("RGB").save(packed, "JPEG", quality=75, subsampling=0)
        content, kind = min((content, "png"), (packed.getvalue(), "jpeg"), key=lambda one: len(one[0]))
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
