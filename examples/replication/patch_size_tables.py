"""Figure 15 of Kassaw et al. 2024 for networks of several patch sizes: accuracy by lattice, and what the patch costs."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from snellen.distort import Lattice, parse
from snellen.exam.run import Run
from snellen.measure import Estimate, accuracy, paired_difference
from snellen.report.charts import svg

COLUMNS = ("model", "patch", "share", "px", "value", "low", "high", "n", "interference")
Row = Mapping[str, Any]
Scores = Mapping[
    tuple[str, float, int], np.ndarray
]  # model, share, size → score [runs, samples]; clean: share 0, size 0


def write_tables(run: Run, folder: Path, trained: str) -> str:
    """Write tables.md, findings.csv and the chart; `trained` is the table of accuracies that opens the first."""
    scores = scores_of(run)
    rows = rows_of(run, scores)
    text = f"{trained}\n{accuracy_tables(rows)}\n{patch_table(scores)}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tables.md").write_text(text)
    with (folder / "findings.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return text + draw(rows, folder)


def patch_of(model: str) -> int:
    """The side of a patch, from names such as vit_small_p4."""
    match = re.search(r"_p(\d+)$", model)
    if match is None:
        raise SystemExit(f"{model}: expected a name that ends in the side of a patch, such as vit_small_p4")
    return int(match[1])


def scores_of(run: Run) -> dict[tuple[str, float, int], np.ndarray]:
    """The score of every image by model and lattice; nothing but the stored tables is read."""
    cells = {row["cell"]: row for row in run.store.cells()}
    answers = pa.concat_tables(
        [pq.read_table(file, columns=["cell", "sample", "score"]) for file in run.store.files("answers")],
        promote_options="default",
    ).to_pandas()
    runs: dict[tuple[str, float, int], list[np.ndarray]] = {}
    for cell, own in answers.sort_values("sample", kind="stable").groupby("cell", sort=False):
        row = cells[cell]
        distortion = parse(row["distortion"])
        if row["distortion"] == "none()":
            key = (row["model"], 0.0, 0)
        elif isinstance(distortion, Lattice):
            key = (row["model"], distortion.share, distortion.px)
        else:
            continue
        runs.setdefault(key, []).append(own["score"].to_numpy(float))
    return {key: np.stack(runs[key]) for key in sorted(runs, key=lambda key: (patch_of(key[0]), *key))}


def rows_of(run: Run, scores: Scores) -> list[dict[str, Any]]:
    """A row per model and lattice, with the accuracy, its interval and the DI of the lattice."""
    index = {
        (one["model"], one["distortions"][0]): one["value"]
        for one in run.results()["findings"]
        if one["name"] == "interference"
    }
    rows = []
    for (model, share, px), score in scores.items():
        estimate = accuracy(score)
        interference = index.get((model, str(Lattice(share, px)))) if px else None
        values = (
            model,
            patch_of(model),
            share,
            px,
            estimate.value,
            estimate.low,
            estimate.high,
            estimate.n,
            interference,
        )
        rows.append(dict(zip(COLUMNS, values)))
    return rows


def accuracy_tables(rows: Sequence[Row]) -> str:
    """A table per share: models down, sizes of the squares across, those smaller than a patch in italics."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    sizes = sorted({row["px"] for row in rows if row["px"]})
    value = {(row["model"], row["share"], row["px"]): row for row in rows}
    parts = []
    for share in sorted({row["share"] for row in rows if row["px"]}):
        head = (
            f"**Figure 15, lattices over {share:.0%} of the image: accuracy %, 95%** (italics: smaller than a patch)\n"
        )
        lines = [
            head,
            "| network | clean | " + " | ".join(f"{px} px" for px in sizes) + " |",
            "|---" * (len(sizes) + 2) + "|",
        ]
        for model in models:
            cells = [_percent(value[model, 0.0, 0])]
            for px in sizes:
                text = _percent(value[model, share, px])
                cells.append(f"*{text}*" if px < patch_of(model) else text)
            lines.append(f"| {model} | " + " | ".join(cells) + " |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _percent(row: Row) -> str:
    return f"{100 * row['value']:.1f} [{100 * row['low']:.1f}–{100 * row['high']:.1f}]"


def patch_effect(scores: Scores, share: float, models: tuple[str, str]) -> tuple[Estimate, list[int], list[int]]:
    """How much more the network of the larger patch loses, to that of the smaller one, where squares are smaller than its own
    patches alone than where they are smaller than neither's; and the sizes on both sides.

    Each side is a difference between networks on the same images under the same lattices, so that neither the accuracy of a
    network nor what a lattice of that size costs any network is part of it.
    """
    fine, coarse = sorted(models, key=patch_of)
    sizes = sorted(px for model, some, px in scores if model == fine and some == share)
    between = [px for px in sizes if patch_of(fine) <= px < patch_of(coarse)]
    above = [px for px in sizes if px >= patch_of(coarse)]

    def lead(some: Sequence[int]) -> np.ndarray:
        return np.mean([scores[fine, share, px].mean(0) - scores[coarse, share, px].mean(0) for px in some], axis=0)

    if not between or not above:
        return Estimate(float("nan"), float("nan"), float("nan"), 0), between, above
    return paired_difference(lead(between), lead(above)), between, above


def patch_table(scores: Scores) -> str:
    """For each share and pair of networks, the effect of the patch in points."""
    models = list(dict.fromkeys(model for model, *_ in scores))
    pairs = [(first, second) for place, first in enumerate(models) for second in models[place + 1 :]]
    lines = [
        "**What the patch costs: points that the coarser network loses to the finer one under squares smaller than its patches "
        "alone, less those under larger squares** (95%, paired; above 0 as the paper supposes)\n",
        "| lattices over | finer | coarser | sizes smaller than the coarser patch alone | larger sizes | points |",
        "|---|---|---|---|---|---|",
    ]
    for share in sorted({share for _, share, px in scores if px}):
        for fine, coarse in pairs:
            effect, between, above = patch_effect(scores, share, (fine, coarse))
            if effect.n:
                text = f"{100 * effect.value:+.1f} [{100 * effect.low:+.1f} to {100 * effect.high:+.1f}]"
                names = f"{fine} | {coarse} | {_sizes(between)} | {_sizes(above)}"
                lines.append(f"| {share:.0%} | {names} | {text} |")
    return "\n".join(lines) + "\n"


def _sizes(some: Sequence[int]) -> str:
    return ", ".join(map(str, some))


def read_findings(folder: Path) -> list[dict[str, Any]]:
    """The rows of a folder's findings.csv."""
    with (folder / "findings.csv").open(newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        row |= {name: int(row[name]) for name in ("patch", "px")}
        row |= {name: float(row[name]) for name in ("share", "value", "low", "high")}
    return rows


def draw(rows: Sequence[Row], folder: Path) -> str:
    """Write figure15.json and, where charts can be drawn, figure15.svg; what was written, in a line."""
    spec = chart_of(rows)
    (folder / "figure15.json").write_text(json.dumps(spec, indent=1) + "\n")
    try:
        (folder / "figure15.svg").write_text(svg(spec))
    except ImportError:
        return f"\nwrote {folder}/figure15.json; for figure15.svg install vl-convert-python and use --draw {folder}\n"
    return f"\nwrote {folder}/figure15.svg\n"


def chart_of(rows: Sequence[Row]) -> dict[str, Any]:
    """Accuracy against the side of the squares, a panel per share, a line per patch; clean accuracy dashed."""
    shares = sorted({row["share"] for row in rows if row["px"]})
    hue = {"field": "patch", "type": "ordinal", "title": "patch, px", "scale": {"scheme": "viridis"}}
    y = {
        "field": "value",
        "type": "quantitative",
        "title": "accuracy",
        "scale": {"domain": [0, 1]},
        "axis": {"format": "%"},
    }
    x = {"field": "px", "type": "ordinal", "title": "side of a square, px", "axis": {"labelAngle": 0}}
    clean = [row for row in rows if not row["px"]]
    panels = []
    for share in shares:
        own = [dict(row) for row in rows if row["px"] and row["share"] == share]
        panels.append(
            {
                "title": f"{share:.0%} of the image",
                "width": 220,
                "height": 220,
                "data": {"values": own},
                "layer": [
                    {"data": {"values": [dict(row) for row in clean]}, "mark": {"type": "rule", "strokeDash": [3, 3]},
                     "encoding": {"y": y, "color": hue}},
                    {"mark": {"type": "line", "point": True}, "encoding": {"x": x, "y": y, "color": hue}},
                    {"mark": "rule", "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": hue}},
                ],
            }
        )  # fmt: skip
    return {"hconcat": panels, "background": "white"}
