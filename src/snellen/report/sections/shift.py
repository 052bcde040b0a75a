"""Worst-case edits: what the search found, how it compares with chance, and which of the edits matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from snellen.audits.facts import UNSET, Number
from snellen.audits.families import SURE
from snellen.audits.label import WORDS
from snellen.audits.run_facts import PixelFacts
from snellen.audits.shift_facts import DensityBin, EditEffectFacts, SearchPoint
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import (
    Block,
    Chart,
    FactLine,
    Group,
    Heading,
    Panels,
    Row,
    Table,
    TableCell,
    heads,
    lead,
    note,
)
from snellen.report.charts import BAR, PERCENT, WARN, by_name, chart, dashed_rule, layer, lines, quantitative, share
from snellen.report.glossary import meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.section import Section
from snellen.report.sections.shift_pictures import picture_blocks
from snellen.report.sections.shift_published import published_shift_blocks
from snellen.report.sections.shift_values import ModelSearch, searches_of
from snellen.report.table import corrected_note, di_badge
from snellen.report.words import UNKNOWN, interval, is_known, join_words, percent, points


def shift_blocks(results: Results) -> list[Block]:
    """The worst edits of each model with their effects, and the charts of figure 2; nothing without this audit."""
    searches = searches_of(results)
    if not searches:
        return []
    return [
        Heading("Worst-case edits"),
        lead(
            "A search combined harmless-looking edits, such as a little less contrast or a little more red, until it found those "
            f"under which the model does worst. {_reported_on(searches)} The worst edits are pictured "
            f"{'under Examples' if results.task == 'classification' else 'below'}."
        ),
        _summary(searches, results) if results.task == "classification" else _task_summary(searches, results),
        FactLine(results.keys()),
        Panels(tuple(_charts(searches, results))),
        note(
            "Dashed: one random combination in a thousand is worse than this. Triangles: the lowest of each search. The charts "
            f"and the {'last three columns' if results.task == 'classification' else 'columns of random and of search'} are "
            "about the images that were searched."
        ),
        _effects(searches, results),
        *_families(results),
        *(picture_blocks(results, searches) if results.task != "classification" else ()),
        *published_shift_blocks(searches[0].worst.facts.set),
    ]


def _reported_on(searches: Sequence[ModelSearch]) -> str:
    """Which images the column of worst edits is about; runs of before they were told apart have all of them."""
    facts = searches[0].worst.facts
    if facts.chosen is UNSET:
        return "These were then asked on all images, which the column of worst edits is about."
    if facts.chosen:
        return (
            "The column of worst edits is about all images, those included on which they were chosen: too few were not searched, "
            "so it errs towards the worse."
        )
    return f"The column of worst edits is about the {facts.unsearched:,} images that were not searched."


def _families(results: Results) -> list[Block]:
    """Over which tests the effects of edits are corrected."""
    families = corrected_note(results.having(EditEffectFacts))
    return [note(families)] if families else []


def _summary(searches: Sequence[ModelSearch], results: Results) -> Table:
    head = heads("", "clean", "worst edits", "lowest of random", "lowest of search", "below 0.1% after")
    rows = []
    for search in searches:
        worst = search.worst
        cells = (
            _bare(search.clean),
            TableCell(percent(worst.value), worst.value, interval(worst.low, worst.high, "share"), di_badge(worst)),
            _bare(search.random),
            _bare(search.searched),
            TableCell(_passed(search), tone="soft"),
        )
        rows.append(Row(TableCell(search.model, hue=results.hue(search.model)), cells))
    return Table(head, tuple(rows))


def _bare(finding: AnyFinding | None) -> TableCell:
    return TableCell(UNKNOWN if finding is None else percent(finding.value))


def _task_summary(searches: Sequence[ModelSearch], results: Results) -> Table:
    """Clean, RS and ES as in tables 4 and 5 of Volpi & Murino (2019), then all images under the worst edits."""
    head = heads("", "clean", "RS: lowest of random", "ES: lowest of search", "worst edits", "below 0.1% after")
    rows = []
    for search in searches:
        shares = map(_share, (search.clean, search.random, search.searched, search.worst))
        name = TableCell(search.model, note=f"N = {search.worst.facts.length}", hue=results.hue(search.model))
        rows.append(Row(name, (*shares, TableCell(_passed(search), tone="soft"))))
    return Table(head, tuple(rows))


def _share(finding: AnyFinding | None) -> TableCell:
    """A finding as a cell, with the mIoU of the same images where there is one."""
    if finding is None:
        return TableCell(UNKNOWN)
    ends = "" if finding.low is None else interval(finding.low, finding.high, "share")
    miou = finding.facts.miou if isinstance(finding.facts, PixelFacts) else None
    note = f"mIoU {percent(miou)}" if is_known(miou) else ""
    return TableCell(percent(finding.value), finding.value, ends, note=note)


def _passed(search: ModelSearch) -> str:
    """After how many evaluations each search was below the threshold of random tuples."""
    if search.random is None:
        return UNKNOWN
    numbers = [number for run in search.random.facts.passed for number in run]
    words = ["never" if number is None else f"{number:,}" for number in numbers[:6]]
    return join_words(words) + (" …" if len(numbers) > 6 else "")


def _charts(searches: Sequence[ModelSearch], results: Results) -> list[Chart]:
    accuracy = WORDS[results.task].accuracy
    charts = []
    for search in searches:
        if search.random is not None:
            facts = search.random.facts
            lowest = [curve[-1].accuracy for curve in search.worst.facts.curves[0]]
            spec = density_chart(facts.density[0], facts.quantile[0], lowest, accuracy)
            charts.append(Chart(f"{search.model}: random combinations", spec))
    curves = {
        (search.model, run, restart): curve
        for search in searches
        for run, of_run in enumerate(search.worst.facts.curves)
        for restart, curve in enumerate(of_run)
    }
    return [*charts, Chart("The search", minima_chart(curves, list(results.models), accuracy))]


def density_chart(
    bins: Sequence[DensityBin], threshold: Number, lowest: Sequence[float], accuracy: str
) -> dict[str, Any]:
    """Random tuples by the accuracy under them, a dashed rule at the 0.1% threshold, a flag at what each search found."""
    x = quantitative("low", f"{accuracy} under a random combination of edits", PERCENT, zero=False)
    bars = {
        "x": {**x, "bin": {"binned": True}},
        "x2": {"field": "high"},
        "y": {"field": "count", "type": "quantitative", "title": "combinations"},
    }
    flags = {"x": {"field": "at", "type": "quantitative"}, "y": {"value": 200}}
    look = {"shape": "triangle-down", "filled": True, "size": 90, "color": WARN, "yOffset": -4}
    return chart(
        340,
        200,
        [msgspec.structs.asdict(each) for each in bins],
        layer("bar", bars, color=BAR),
        dashed_rule("x", threshold, strokeDash=[4, 3], strokeWidth=1.4, opacity=1),
        layer("point", flags, [{"at": value} for value in lowest], **look),
    )


def minima_chart(
    curves: Mapping[tuple[str, int, int], Sequence[SearchPoint]], models: Sequence[str], accuracy: str
) -> dict[str, Any]:
    """The lowest accuracy so far against the number of evaluations, a stepped line for each search (model, run, restart)."""
    points = [
        {"model": model, "search": f"{model} {run} {restart}", **msgspec.structs.asdict(point)}
        for (model, run, restart), curve in curves.items()
        for point in curve
    ]
    steps = {
        "x": quantitative("evaluations", "evaluations"),
        "y": share("accuracy", f"lowest {accuracy} so far"),
        "color": by_name("model", models),
        "detail": {"field": "search"},
    }
    return chart(340, 200, points, lines(steps, 1.6, interpolate="step-after"))


def _effects(searches: Sequence[ModelSearch], results: Results) -> Table:
    """The edits of each model's worst tuple, in the order they are applied, with what comes back without each."""
    rows: list[Row | Group] = []
    for search in searches:
        rows.append(Group(f"{search.model}: {search.worst.facts.edits[0]}", results.hue(search.model)))
        effects = (finding for finding in results.having(EditEffectFacts) if finding.model == search.model)
        rows += [_effect_row(effect) for effect in effects]
    head = heads("edit, from first to last", f"{WORDS[results.task].accuracy} without it", "95% interval", "clear")
    return Table(head, tuple(rows))


def _effect_row(effect: StoredFinding[EditEffectFacts]) -> Row:
    p = effect.facts.p if effect.facts.p_corrected is UNSET else effect.facts.p_corrected
    cells = (
        TableCell(points(effect.value), effect.value),
        TableCell(interval(effect.low, effect.high, "difference")),
        TableCell("yes" if p is not None and p < SURE else "no", tone="soft"),
    )
    return Row(TableCell(effect.facts.words), cells)


def _where(search: ModelSearch) -> str:
    """On which images, and what the worst was on those that were searched: the lowest of search and random tuples."""
    facts = search.worst.facts
    if facts.chosen is UNSET:
        return ""
    if facts.chosen:
        return " on the images on which it was chosen, which errs towards the worse"
    lowest = "" if search.lowest is None else f" (on those that were, {percent(search.lowest)})"
    return f" on images that were not searched{lowest}"


def shift_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """How far the worst edits bring the model down, and which they are."""
    search = next((search for search in searches_of(results) if search.model == model), None)
    if search is None or search.clean is None:
        return []
    facts = search.worst.facts
    sentence = (
        f"Of all combinations of {facts.length} edits that were tried, the worst brings it from "
        f"{percent(search.clean_beside)} to {percent(search.worst.value)}{_where(search)}: {facts.words[0]}."
    )
    return [("What breaks it", sentence)]


SHIFT = Section(
    blocks=shift_blocks,
    verdict=shift_sentence,
    effects=frozenset({"worst_drop"}),
    columns={"worst edits": lambda finding: finding.name == "worst_accuracy"},
    elsewhere=frozenset({"edit_effect"}),
    meanings=meanings("Worst edits", "Effect of an edit"),
)
