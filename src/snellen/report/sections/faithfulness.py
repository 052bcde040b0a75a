"""Faithfulness: the six panels of deletion and insertion, the areas with their errors, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from snellen.audits.deletion_curves import (
    CurveFacts,
    CurvePanels,
    DeletionDifferenceFacts,
    DeletionFacts,
    PanelCurve,
)
from snellen.audits.facts import UNSET
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Block, Chart, FactLine, Heading, Panels, Row, Table, TableCell, heads, lead, note
from snellen.report.charts import TICKS, chart, dashed_rule, lines_with_bands, quantitative, share
from snellen.report.glossary import meanings
from snellen.report.results import Results
from snellen.report.sections.faithfulness_gallery import stage_blocks
from snellen.report.sections.section import Section
from snellen.report.table import corrected_note
from snellen.report.words import UNKNOWN, count_of, index, interval, is_known

Area = StoredFinding[CurveFacts]
Difference = StoredFinding[DeletionDifferenceFacts]
PAIRS = {  # a finding of deletion → that of the same images as insertion, and which tiles come first in both
    "inter_model_deletion": ("inter_model_insertion", "least relevant first", "most relevant first"),
    "morf_deletion": ("lerf_insertion", "most relevant first", "least relevant first"),
}


def faithfulness_blocks(results: Results) -> list[Block]:
    """The panels and the table of each attribution method; nothing without this audit."""
    deletions = [finding for finding in results.having(CurveFacts) if finding.name in PAIRS]
    if not deletions:
        return []
    blocks: list[Block] = [
        Heading("Faithfulness of the maps"),
        lead(
            "Tiles of each image are hidden in the order of their relevance to the model, the least relevant first, and the "
            "probability of its answer is followed. A faithful map hides last what the model needs: its curve stays above that "
            "of random orders. Subtracting the random curve takes away how robust the model is to hidden tiles at all, so that "
            "models can be compared. Insertion shows the same images from the other end, so its areas are those of deletion."
        ),
        FactLine(results.keys()),
    ]
    groups: dict[tuple[Any, ...], list[Area]] = {}
    for finding in deletions:
        groups.setdefault((finding.name, *_settings(finding.facts)), []).append(finding)
    for group in groups.values():
        blocks += _of_group(results, group)
    return blocks


def _settings(facts: CurveFacts) -> tuple[Any, ...]:
    """What the findings of one set of panels have in common."""
    return facts.method, facts.layer, facts.tile, facts.fill, facts.evaluation, facts.filter


def _of_group(results: Results, deletions: Sequence[Area]) -> list[Block]:
    name, facts = deletions[0].name, deletions[0].facts
    layer = "" if facts.layer is None else f" at layer {facts.layer}"
    insertion, first, other = PAIRS[name]
    chosen = "" if facts.filter is UNSET else f", on the {count_of(facts.filter.chosen, 'image')} that the filter left"
    insertions = [twin for finding in deletions if (twin := _twin(results, finding, insertion)) is not None]
    known = [finding for finding in deletions if is_known(finding.value)]
    pairs = _pairs(results, facts) if isinstance(facts, DeletionFacts) else []
    return [
        Heading(f"{facts.method}{layer}: {first} against random{chosen}", 3),
        *([Panels(tuple(_panels(results, known, "deleted", first)))] if known else []),
        *([Panels(tuple(_panels(results, insertions, "inserted", other)))] if known else []),
        note(
            "Bands: one standard error over the images. Scores are 1 for whole images and 0 for hidden ones, on average."
        ),
        _areas(results, deletions, insertions),
        note(
            "Deletion, insertion: the area between both curves with its 95% interval and standard error over images, in points "
            f"of 100: 0 is the score of hidden images at every step, 100 that of whole ones.{_beyond(known)} The standard error "
            "of a step, on average, is what Won et al. (2023) publish, on a scale of 0 to 1. "
            f"{_cost(deletions)}{_order_error(deletions)}"
        ),
        *_differences(pairs),
        *stage_blocks(known, pairs, results),
    ]


def _twin(results: Results, deletion: Area, insertion: str) -> Area | None:
    """The finding of the same images as insertion."""
    others = (
        finding
        for finding in results.having(CurveFacts)
        if (finding.name, finding.model) == (insertion, deletion.model)
        and _settings(finding.facts) == _settings(deletion.facts)
    )
    return next(others, None)


def _panels(results: Results, findings: Sequence[Area], verb: str, first: str) -> list[Chart]:
    panels: list[tuple[str, str, Callable[[CurvePanels], PanelCurve]]] = [
        (first.capitalize(), "normalised score", lambda curves: curves.order),
        ("Random order", "normalised score", lambda curves: curves.random),
        ("Difference", "difference of scores", lambda curves: curves.difference),
    ]
    charts = []
    for title, up, curve in panels:
        points = [row for finding in findings for row in _points(finding.model, curve(finding.facts.curves))]
        chart = _panel_chart(points, list(results.models), f"{verb} share of the tiles", up)
        charts.append(Chart(f"{title}, {verb}", chart))
    return charts


def _points(model: str, curve: PanelCurve) -> list[dict[str, Any]]:
    """A model's curve as rows of a chart, with one standard error to either side."""
    last = len(curve.value) - 1
    return [
        {"model": model, "share": step / last, "value": value, "low": value - (se or 0), "high": value + (se or 0)}
        for step, (value, se) in enumerate(zip(curve.value, curve.se))
        if value is not None
    ]


def _panel_chart(points: list[dict[str, Any]], models: list[str], across: str, up: str) -> dict[str, Any]:
    """One panel: a line and a band of one standard error per model, and a thin rule at 0."""
    x, y = share("share", across), quantitative("value", up, {**TICKS, "format": ".1f", "titlePadding": 8})
    bands = lines_with_bands(x, y, models, width=1.8, opacity=0.18)
    return chart(250, 190, points, dashed_rule("y", 0, opacity=0.5), *bands)


def _areas(results: Results, deletions: Sequence[Area], insertions: Sequence[Area]) -> Table:
    head = heads("area", "by relevance", "at random", "deletion", "insertion", "standard error")
    twins = {finding.model: finding for finding in reversed(insertions)}
    rows = []
    for finding in deletions:
        facts, twin = finding.facts, twins.get(finding.model)
        cells = (
            TableCell(index(facts.order_area), facts.order_area),
            TableCell(index(facts.random_area), facts.random_area),
            _area(finding),
            TableCell(UNKNOWN) if twin is None else _area(twin),
            TableCell(index(facts.se), facts.se, note=f"of a step {index(facts.se_steps)}"),
        )
        rows.append(Row(TableCell(finding.model, hue=results.own_hue(finding.model)), cells))
    return Table(head, tuple(rows))


def _pairs(results: Results, facts: CurveFacts) -> list[Difference]:
    """The paired differences between models, by the same maps."""
    return [
        finding
        for finding in results.having(DeletionDifferenceFacts)
        if (finding.facts.method, finding.facts.layer, finding.facts.filter)
        == (facts.method, facts.layer, facts.filter)
        and is_known(finding.value)
    ]


def _differences(pairs: Sequence[Difference]) -> list[Block]:
    if not pairs:
        return []
    head = heads("on the same images", "difference", "95% interval", "p, corrected", "could be shown")
    rows = tuple(Row(TableCell(finding.model), _difference(finding)) for finding in pairs)
    families = corrected_note(pairs)
    return [Table(head, rows), *([note(families)] if families else [])]


def _difference(finding: Difference) -> tuple[TableCell, ...]:
    p = finding.facts.p_corrected
    return (
        TableCell(index(finding.value), finding.value),
        TableCell(interval(finding.low, finding.high, "index")),
        TableCell(UNKNOWN if p is None else f"{p:.2g}"),
        TableCell(index(finding.facts.detectable), tone="soft"),
    )


def _area(finding: Area) -> TableCell:
    ends = interval(finding.low, finding.high, "index")
    return TableCell(index(finding.value), finding.value, ends, bold=True)


def _cost(deletions: Sequence[Area]) -> str:
    """How the curves were looked at, what that cost and how far the areas may be off for it."""
    facts = [finding.facts for finding in deletions]
    passes, full = sum(sum(own.asked) for own in facts), sum(sum(own.full) for own in facts)
    side, fill = count_of(facts[0].tile, "pixel"), facts[0].fill.replace("_", " ")
    tiles = f"Tiles of {side}, filled with {fill}; {passes:,} images asked"
    if facts[0].evaluation == "full" or not passes:
        return f"{tiles}, every point of every curve."
    return f"{tiles}, {full / passes:.1f} times fewer than all points of all curves need.{_sampling_error(deletions)}"


def _sampling_error(deletions: Sequence[Area]) -> str:
    """How far areas may be off because not every point was asked, and whether that is more than was asked for."""
    facts = [finding.facts for finding in deletions]
    errors = [own.sampling_error for own in facts if is_known(own.sampling_error)]
    stated = f" For it, areas may be off by {max(errors):.2f} (90% confidence)." if errors else ""
    missed = [finding for finding in deletions if is_known(finding.value) and not _reached(finding.facts)]
    if not missed:
        return stated
    images, wanted = count_of(missed[0].n, "image"), missed[0].facts.requested_error
    names = ", ".join(finding.model for finding in missed)
    return (
        f"{stated} The {wanted:g} that was asked for is not reached for {names}: {images} are too few to know it so well by "
        "some of the points; evaluation=full asks all of them."
    )


def _reached(facts: CurveFacts) -> bool:
    """Whether areas are known as exactly as was asked for; true of older runs, which do not say what was."""
    if facts.requested_error is UNSET:
        return True
    return is_known(facts.sampling_error) and facts.sampling_error <= facts.requested_error


def _order_error(deletions: Sequence[Area]) -> str:
    """How far areas may be off because random orders are drawn; nothing of runs that do not say."""
    known = [finding.facts.order_error for finding in deletions if is_known(finding.value)]
    errors = [error for error in known if is_known(error)]
    if not errors:
        return ""
    return (
        f" Random orders of another seed may move areas by {max(errors):.2f} (90% confidence), which the 95% interval contains; "
        "more images or repeats make it less."
    )


def _beyond(deletions: Sequence[Area]) -> str:
    """Why areas are above 100 or below 0, where some are."""
    areas = [area for finding in deletions for area in (finding.facts.order_area, finding.facts.random_area)]
    if all(0 <= area <= 100 for area in areas if is_known(area)):
        return ""
    return (
        " An area above 100 says that hiding tiles made the model surer than whole images do, on average, as where they spoke "
        "for another class; one below 0 that it became less sure than on hidden images."
    )


def faithfulness_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """Whether the maps find what the answers rest on better than chance, as far as the interval shows."""
    sentences = []
    for finding in results.having(DeletionFacts):
        if finding.model == model and is_known(finding.value):
            sure = "find" if (finding.low or 0) > 0 else "are not shown to find"
            sentence = (
                f"Its maps {sure} the tiles that its answers rest on ({finding.topic}): hiding the least relevant first keeps "
                f"{index(finding.value)} points of 100 more than hiding at random (95% interval "
                f"{interval(finding.low, finding.high, 'index')})."
            )
            sentences.append(("Faithful maps", sentence))
    return sentences


FAITHFULNESS = Section(
    blocks=faithfulness_blocks,
    verdict=faithfulness_sentence,
    columns={"faithfulness": lambda finding: finding.name == "inter_model_deletion"},
    elsewhere=frozenset({"inter_model_insertion", "lerf_insertion"}),
    meanings=meanings("Inter-model deletion"),
)
