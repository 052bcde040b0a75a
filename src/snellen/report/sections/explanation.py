"""Explanations: whether the maps of models lie on the objects, models side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.report.blocks import (
    Block,
    Cell,
    Chart,
    Facts,
    Heading,
    Panels,
    Row,
    Table,
    heads,
    lead,
    note,
)
from snellen.report.results import Finding, Results
from snellen.report.sections.explanation_charts import sweep_chart
from snellen.report.sections.explanation_gallery import disagreement_blocks, example_blocks
from snellen.report.sections.explanation_published import published_details
from snellen.report.sections.section import Section
from snellen.report.words import count_of, in_unit, index, interval, is_known, percent, points, spread

AUDIT = "explanation"
MEASURES = {
    "energy_pg": "EnergyPG",
    "ehr": "EHR",
    "pointing_game": "pointing game",
    "wsol_iou": "WSOL, mean IoU",
    "wsol": "WSOL, IoU ≥ 0.5",
}
COMPARED = {"energy_pg_difference": "EnergyPG", "ehr_difference": "EHR", "wsol_iou_difference": "WSOL, mean IoU"}


def explanation_blocks(results: Results) -> list[Block]:
    """For each method the table of models, what they gain over the baseline, and the maps; nothing without this audit."""
    findings = results.of_audit(AUDIT)
    blocks: list[Block] = []
    for method in dict.fromkeys(one["facts"]["method"] for one in findings):
        blocks += _method_blocks([one for one in findings if one["facts"]["method"] == method], results)
    if not blocks:
        return []
    return [
        Heading("Explanations"),
        lead(
            "Where lies what speaks for a model’s own answers? EnergyPG and EHR ask how much of a map is on the object. WSOL "
            "compares only the outline of the map with the object’s box, so a broad map can win there and lose here."
        ),
        Facts(results.keys()),
        *blocks,
        *published_details(),
    ]


def _method_blocks(findings: Sequence[Finding], results: Results) -> list[Block]:
    first = findings[0]["facts"]
    where = "" if first["layer"] is None else f", layer {first['layer']}"
    region = {"mask": "mask", "box": "boxes"}[first["region"]]
    return [
        Heading(f"Maps by {first['method']}{where}", 3),
        _table(findings, results),
        note(
            f"± is the standard error over images. The object is its {region}; an even map would have the share that its own "
            f"column shows. {_images(findings)}"
        ),
        *_comparison(findings, results),
        Panels(tuple(_charts(findings, results))),
        *example_blocks(findings, results),
        *disagreement_blocks(findings, results),
    ]


def _of(findings: Sequence[Finding], name: str) -> dict[str, Finding]:
    return {one["model"]: one for one in findings if one["name"] == name}


def _table(findings: Sequence[Finding], results: Results) -> Table:
    columns = {name: _of(findings, name) for name in MEASURES}
    rows = []
    for model, energy in columns["energy_pg"].items():
        cells = [_value(column[model]) for column in columns.values()]
        even, facts = energy["facts"]["even"], energy["facts"]
        empty = f"{count_of(facts['empty_maps'], 'empty map')} left out" if facts["empty_maps"] else ""
        cells += [Cell(percent(even), even), Cell(f"{energy['n']:,}", energy["n"], note=empty)]
        rows.append(Row(Cell(model, hue=results.own_hue(model)), tuple(cells)))
    return Table(heads("", *MEASURES.values(), "even map", "images"), tuple(rows), dense=True)


def _value(one: Finding) -> Cell:
    text = percent(one["value"]) + spread(one["facts"]["standard_error"], "share")
    return Cell(text, one["value"], title=one["text"])


def _images(findings: Sequence[Finding]) -> str:
    """Which images count, in words."""
    facts = findings[0]["facts"]
    counts = next((one["facts"]["filter"] for one in findings if one["facts"].get("filter")), None)
    outside = facts.get("without_object", 0)
    words = f"{count_of(outside, 'image')} without an object in it counted neither way." if outside else ""
    if counts is None:
        return words
    return (
        f"Of {count_of(counts['images'], 'image')} every model is sure of the true class on {counts['confident']:,}, the "
        f"object is of a fitting size on {counts['sized']:,}; both hold for the {counts['chosen']:,} that count. {words}"
    )


def _comparison(findings: Sequence[Finding], results: Results) -> list[Block]:
    """Differences to the baseline, gain ratio and disagreement; nothing for a single model."""
    gains = _of(findings, "gain_ratio")
    if not gains:
        return []
    other = next(iter(gains.values()))["facts"]["other"]
    disagreements = _of(findings, "wsol_disagreement")
    rows = []
    for model, gain in gains.items():
        cells = [_difference(_of(findings, name)[model]) for name in COMPARED]
        energy = f"{points(gain['facts']['gain_whole'])} of energy in all"
        cells.append(
            Cell(index(gain["value"]), gain["value"], interval(gain["low"], gain["high"], "index"), note=energy)
        )
        share = disagreements[model]
        cells.append(Cell(percent(share["value"]), share["value"], interval(share["low"], share["high"], "share")))
        rows.append(Row(Cell(model, hue=results.own_hue(model)), tuple(cells)))
    even = next(iter(gains.values()))["facts"]["even"]
    return [
        Table(heads(f"less {other}", *COMPARED.values(), "gain ratio", "WSOL and EnergyPG disagree"), tuple(rows)),
        note(
            "Differences are paired on the same images; bold where clear (p < 0.05 after Holm’s correction). The gain ratio is "
            f"the energy gained on the object by the energy gained in all; below {percent(even)}, the object’s share of the "
            "image, the gain went past the object. It has no interval where it is unclear whether energy was gained or lost."
        ),
    ]


def _difference(one: Finding) -> Cell:
    p = one["facts"]["p_corrected"]
    clear = is_known(p) and p < 0.05
    value = one["value"]
    return Cell(in_unit(value, "difference"), value, interval(one["low"], one["high"], "difference"), bold=clear)


def _charts(findings: Sequence[Finding], results: Results) -> list[Chart]:
    """WSOL at other thresholds: mean IoU and the share of boxes found."""
    found_by = _of(findings, "wsol")
    threshold = findings[0]["facts"]["threshold"]
    models = list(results.models)
    charts = []
    for key, title in (("iou", "mean IoU"), ("share", "IoU ≥ 0.5")):
        rows: list[dict[str, Any]] = []
        for model, one in found_by.items():
            for point in one["facts"]["sweep"]:
                if not is_known(point[key]):
                    continue
                error = point["standard_error"] if key == "iou" and is_known(point["standard_error"]) else 0
                value = point[key]
                rows.append(
                    {
                        "model": model,
                        "threshold": point["threshold"],
                        "value": value,
                        "low": value - error,
                        "high": value + error,
                    }
                )
        charts.append(Chart(f"WSOL by threshold: {title}", sweep_chart(rows, models, threshold, title)))
    return charts


def explanation_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """The energy on the object beside that of an even map; a lead only where the interval excludes it."""
    own = [one for one in results.of_audit(AUDIT) if one["model"] == model and one["name"] == "energy_pg"]
    sentences = []
    for one in own:
        if is_known(one["value"]):
            even = one["facts"]["even"]
            rank = "more than" if one["low"] > even else "less than" if one["high"] < even else "not told apart from"
            region = {"mask": "on the object", "box": "in the object’s box"}[one["facts"]["region"]]
            sentences.append(
                f"{percent(one['value'])} of the energy of its maps ({one['facts']['method']}) lies {region} (95% interval "
                f"{interval(one['low'], one['high'], 'share')}%), {rank} the {percent(even)} of an even map."
            )
    return [("Where it looks", " ".join(sentences))] if sentences else []


EXPLANATION = Section(
    blocks=explanation_blocks,
    verdict=explanation_sentence,
    columns={
        "EnergyPG": lambda one: one["name"] == "energy_pg",
        "EHR": lambda one: one["name"] == "ehr",
        "WSOL": lambda one: one["name"] == "wsol_iou",
    },
    elsewhere=frozenset({*(f"{name}_difference" for name in MEASURES), "gain_ratio", "wsol_disagreement"}),
    meanings={
        "EnergyPG": "The energy-based pointing game: the share of a map’s energy that lies on the object. An even map has the "
        "object’s share of the image.",
        "EHR": "The effective heat ratio: at eleven thresholds, heat on the object by the number of pixels that reach the "
        "threshold; the area under that curve. 1: all heat is on the object and at its maximum.",
        "WSOL": "Weakly supervised object localisation: the IoU of the object’s box with the smallest box around the map’s "
        "pixels of at least 15% of its maximum (or another threshold). It sees the outline of a map, not its values.",
        "Gain ratio": "Of the energy that a model’s maps have more than the baseline’s, the part that is on the object.",
    },
)
