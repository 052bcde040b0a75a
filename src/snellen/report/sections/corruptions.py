"""Common corruptions: accuracy by severity, a panel for each kind, and the error of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.audits.corruptions import CorruptedFacts, CorruptionErrorFacts, CorruptionsAudit, MeanErrorFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.distort.corruptions.corruption import in_words
from snellen.report.blocks import Block, Chart, Details, FactLine, Heading, Panels, Table, lead, note
from snellen.report.charts import chart, dashed_rule, filled_points, lines_with_bands, quantitative, share
from snellen.report.glossary import meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.section import Section
from snellen.report.table import di_badge, model_heads, row_of, table_row
from snellen.report.words import is_known

SEVERITY = {"values": [0, 1, 2, 3, 4, 5], "format": "d"}


def corruption_blocks(results: Results) -> list[Block]:
    """A panel for each corruption and the table of errors; nothing without this audit."""
    accuracies = [finding for finding in results.having(CorruptedFacts) if is_known(finding.value)]
    if not accuracies:
        return []
    kinds = dict.fromkeys(finding.facts.kind for finding in accuracies)
    panels = [
        Chart(
            in_words(kind).capitalize() if in_words(kind).islower() else in_words(kind),
            severity_chart(results, accuracies, kind),
        )
        for kind in kinds
    ]
    return [
        Heading("Common corruptions"),
        lead(
            "What noise, blur, weather and compression cost, at severities of 1 to 5; 0 is the clean image. The band is the 95% "
            f"interval, the dashed line {results.guess(*accuracies).line}."
        ),
        FactLine(results.keys()),
        Panels(tuple(panels), "small"),
        _errors(results),
        note(_divided(results)),
        Details("The accuracies behind the panels", (_accuracy_table(results, accuracies),)),
    ]


def severity_chart(results: Results, accuracies: Sequence[StoredFinding[CorruptedFacts]], kind: str) -> dict[str, Any]:
    """Accuracy against severity under one corruption, a line for each model from its clean accuracy on."""
    points = []
    for model in results.models:
        own = [
            (finding.facts.severity, finding)
            for finding in accuracies
            if (finding.model, finding.facts.kind) == (model, kind)
        ]
        clean = results.clean(model)
        every: list[tuple[int, AnyFinding]] = [(0, clean), *own] if clean is not None and own else list(own)
        points += [
            {"model": model, "severity": severity, "value": point.value, "low": point.low, "high": point.high}
            for severity, point in sorted(every, key=lambda pair: pair[0])
            if is_known(point.value)
        ]
    x, y = quantitative("severity", "severity", SEVERITY, domain=[0, 5]), share("value", "accuracy")
    layers = lines_with_bands(x, y, list(results.models))
    spots = filled_points({"x": x, "y": y, "color": layers[0]["encoding"]["color"]}, 24)
    return chart(190, 130, points, dashed_rule("y", results.guess(*accuracies).level, "chance"), *layers, spots)


def _errors(results: Results) -> Table:
    """The mean corruption error, what corruptions add, and the error of each kind."""
    questions: dict[tuple[str, str], dict[str, AnyFinding]] = {}
    for finding in results.of_audit("corruptions"):
        if isinstance(finding.facts, MeanErrorFacts | CorruptionErrorFacts):
            questions.setdefault((finding.name, finding.label), {})[finding.model] = finding
    rows = [table_row(row_of(findings, results), results, di_badge) for findings in questions.values()]
    return Table(model_heads(results), tuple(rows))


def _accuracy_table(results: Results, accuracies: Sequence[StoredFinding[CorruptedFacts]]) -> Table:
    questions: dict[tuple[str, ...], dict[str, AnyFinding]] = {}
    for finding in accuracies:
        questions.setdefault(tuple(finding.distortions), {})[finding.model] = finding
    rows = [table_row(row_of(findings, results), results, di_badge) for findings in questions.values()]
    return Table(model_heads(results), tuple(rows))


def _divided(results: Results) -> str:
    """What the errors are divided by."""
    if any(finding.facts.reference == "alexnet" for finding in results.having(MeanErrorFacts)):
        return (
            "Errors are divided by those that are published for AlexNet on ImageNet-C: 1 is as many errors as AlexNet makes. The "
            "images and the frost are not those of ImageNet-C, so compare with published numbers with care."
        )
    return "Errors are shares of images; they are not divided by those of another model. The DI is the highest of the severities."


CORRUPTIONS = Section(
    blocks=corruption_blocks,
    headline="mean_corruption_error",
    columns={"corruption error": lambda finding: finding.name == "mean_corruption_error"},
    losses=lambda finding: finding.name == "corrupted_accuracy",
    elsewhere=frozenset(CorruptionsAudit.names),
    meanings=meanings("Corruption error"),
)
