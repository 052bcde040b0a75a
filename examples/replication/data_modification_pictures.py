"""The figures of docs/results/data-modification.md, as charts of the tidy findings."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

from data_modification_tables import AREAS, FILL_WORDS, FILLS, METHODS, SALIENT, SQUARE
from tidy_findings import BY_CLASS, Tidy

DISTORTIONS = dict(zip(("shuffled 4×4", "black square", "other dataset"), BY_CLASS))


def write_pictures(tidy: Tidy, folder: Path) -> list[Path]:
    """One PNG per figure; without rows there is no figure."""
    import vl_convert

    from snellen.report.charts import CONFIG, svg

    files = []
    for name, spec in (("increase", increase_picture(tidy)), ("occlusion", curve_picture(tidy))):
        file = folder / f"data-modification-{name}.png"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(vl_convert.svg_to_png(svg({"config": CONFIG, **spec}), scale=1.5))
        files.append(file)
    return files


def increase_picture(tidy: Tidy) -> dict[str, Any]:
    """Figures 2, 8, 9: the share of all errors that each class gains, by distortion and method."""
    words = {text: name for name, text in DISTORTIONS.items()}
    rows = [
        {"distortion": words[row.setting], "method": METHODS[row.method], "class": row.text, "increase": row.value}
        for row in tidy.rows
        if row.finding == "error_increase" and row.group[:2] == ("mixes", "cifar10")
    ]
    return {
        "data": {"values": rows}, "mark": "bar", "width": 170, "height": 110,
        "encoding": {
            "row": {"field": "distortion", "type": "nominal", "title": None, "sort": list(DISTORTIONS)},
            "column": {"field": "method", "type": "nominal", "title": None, "sort": list(METHODS.values())},
            "x": {"field": "class", "type": "nominal", "title": None, "sort": None},
            "y": {"field": "increase", "type": "quantitative", "title": "share of errors gained"},
        },
    }  # fmt: skip


def curve_picture(tidy: Tidy) -> dict[str, Any]:
    """Figures 3, 5, 10, 12: both measures against the covered share, for each fill."""
    measures = {"CutOcclusion (accuracy)": ("occluded_accuracy", SQUARE), "iOcclusion": ("iocclusion", SALIENT)}
    rows = [
        {"measure": words, "fill": FILL_WORDS[fill], "method": METHODS[method], "share": area, "value": fmean(values)}
        for words, (name, text) in measures.items()
        for fill in FILLS
        for method in METHODS
        for area in AREAS
        if (values := tidy.of(("mixes", "cifar10", method), name, text.format(area, fill)))
    ]
    return {
        "data": {"values": rows}, "mark": {"type": "line", "point": True}, "width": 210, "height": 170,
        "resolve": {"scale": {"y": "independent"}},
        "encoding": {
            "row": {"field": "measure", "type": "nominal", "title": None},
            "column": {"field": "fill", "type": "nominal", "title": None, "sort": list(FILL_WORDS.values())},
            "x": {"field": "share", "type": "quantitative", "title": "covered share"},
            "y": {"field": "value", "type": "quantitative", "title": None},
            "color": {"field": "method", "type": "nominal", "title": None, "sort": list(METHODS.values())},
        },
    }  # fmt: skip
