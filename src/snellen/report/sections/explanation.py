"""Explanations: whether the maps of models lie on the objects, models side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from snellen.audits.alignment_facts import DisagreementFacts, EnergyFacts, MapReadingFacts, WsolFacts, WsolPoint
from snellen.audits.facts import Number
from snellen.report.blocks import (
    Block,
    Chart,
    Details,
    FactLine,
    Heading,
    Panels,
    Published,
    Row,
    Table,
    TableCell,
    heads,
    lead,
    note,
)
from snellen.report.charts import chart, dashed_rule, lines_with_bands, share
from snellen.report.glossary import meanings
from snellen.report.published import published_table
from snellen.report.results import Results
from snellen.report.sections.explanation_gallery import disagreement_blocks, example_blocks
from snellen.report.sections.explanation_tables import (
    MEASURES,
    AlignmentFindings,
    by_model,
    comparison_blocks,
    having,
    image_counts,
    measures_table,
)
from snellen.report.sections.section import Section
from snellen.report.words import beside_even, is_known, percent

PUBLISHED = {  # columns of table 1 of Won et al. (2023)
    "gradcam energy_pg": "Grad-CAM, EnergyPG",
    "gradcam ehr": "Grad-CAM, EHR",
    "iba energy_pg": "IBA, EnergyPG",
    "iba ehr": "IBA, EHR",
}


def explanation_blocks(results: Results) -> list[Block]:
    """For each method the table of models, what they gain over the baseline, and the maps; nothing without this audit."""
    findings = results.having(MapReadingFacts)
    blocks: list[Block] = []
    for method in dict.fromkeys(finding.facts.method for finding in findings):
        blocks += _method_blocks([finding for finding in findings if finding.facts.method == method], results)
    if not blocks:
        return []
    return [
        Heading("Explanations"),
        lead(
            "Which pixels support the prediction? EnergyPG and EHR ask how much of a map is on the object. WSOL "
            "compares only the outline of the map with the object’s box, so a broad map can win there and lose here."
        ),
        FactLine(results.keys()),
        *blocks,
        _published(),
    ]


def _method_blocks(findings: AlignmentFindings, results: Results) -> list[Block]:
    reading = findings[0].facts
    where = "" if reading.layer is None else f", layer {reading.layer}"
    region = {"mask": "mask", "box": "boxes"}[reading.region]
    return [
        Heading(f"Maps by {reading.method}{where}", 3),
        measures_table(findings, results),
        note(
            f"± is the standard error over images. The object is its {region}; below each value is that of even maps, "
            f"which tell nothing. {image_counts(findings)}"
        ),
        *comparison_blocks(findings, results),
        Panels(tuple(_charts(findings, results))),
        *example_blocks(having(findings, EnergyFacts), results),
        *disagreement_blocks(having(findings, DisagreementFacts), results),
    ]


def _charts(findings: AlignmentFindings, results: Results) -> list[Chart]:
    """WSOL at other thresholds: mean IoU and the share of boxes found."""
    chosen = findings[0].facts.threshold
    curves: dict[str, Callable[[WsolPoint], tuple[Number, Number]]] = {
        "mean IoU": lambda point: (point.iou, point.standard_error),
        "IoU ≥ 0.5": lambda point: (point.share, None),
    }
    charts = []
    for title, curve in curves.items():
        values: list[dict[str, Any]] = []
        for model, finding in by_model(findings, WsolFacts).items():
            for point in finding.facts.sweep:
                value, error = curve(point)
                if value is not None:
                    ends = {"low": value - (error or 0), "high": value + (error or 0)}
                    values.append({"model": model, "threshold": point.threshold, "value": value, **ends})
        charts.append(Chart(f"WSOL by threshold: {title}", _sweep_chart(values, list(results.models), chosen, title)))
    return charts


def _sweep_chart(values: list[dict[str, Any]], models: list[str], chosen: float, title: str) -> dict[str, Any]:
    """A line per model over the thresholds, a band of one standard error where there is one, the chosen threshold dashed."""
    x, y = share("threshold", "threshold, share of the map’s maximum"), share("value", title)
    return chart(340, 220, values, dashed_rule("x", chosen), *lines_with_bands(x, y, models))


def _published() -> Details:
    """Table 1 of Won et al. (2023), folded."""
    rows = tuple(
        Row(
            TableCell(name),
            tuple(TableCell(f"{row[key].value:.3f} ± {row[key].sd:.3f}", row[key].value) for key in PUBLISHED),
        )
        for name, row in published_table("won2023", "1").items()
    )
    text = (
        "the published values are of five ResNet-50 on 1,000 ImageNet images that all of them are sure of, with boxes of 10 to "
        "50% of the image. They say how far apart networks have been, not how good these are."
    )
    table = Table(heads("trained with", *PUBLISHED.values()), rows, dense=True)
    return Details("Published values", (Published("Won et al. 2023", False, text, (table,)),))


def explanation_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """The energy on the object beside that of an even map; a lead only where the interval excludes it."""
    sentences = []
    for finding in results.having(EnergyFacts):
        if finding.model == model and is_known(finding.value):
            region = {"mask": "on the object", "box": "in the object’s box"}[finding.facts.region]
            sentences.append(
                f"{percent(finding.value)} of the energy of its maps ({finding.facts.method}) lies {region} "
                f"{beside_even(finding.low, finding.high, finding.facts.even)}"
            )
    return [("Where it looks", " ".join(sentences))] if sentences else []


EXPLANATION = Section(
    blocks=explanation_blocks,
    verdict=explanation_sentence,
    columns={
        "EnergyPG": lambda finding: finding.name == "energy_pg",
        "EHR": lambda finding: finding.name == "ehr",
        "WSOL": lambda finding: finding.name == "wsol_iou",
    },
    elsewhere=frozenset({*(f"{name}_difference" for name in MEASURES), "gain_ratio", "wsol_disagreement"}),
    meanings=meanings("EnergyPG", "EHR", "WSOL", "Gain ratio"),
)
