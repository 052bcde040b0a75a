"""Accuracy by type and level of occlusion, and at the depths of the class tree: curves and tables (Kassaw et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.audits.occluders.people import PEOPLE
from snellen.audits.occluders.trees import TreeAccuracyFacts, TreeDistanceFacts
from snellen.audits.occluders.types import REAL, RIGHT_ANGLE
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import (
    Block,
    Chart,
    Details,
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
from snellen.report.charts import (
    INK,
    chart,
    colour,
    dash,
    filled_points,
    interval_bars,
    lines,
    looks_by_name,
    share,
    where,
)
from snellen.report.sections.occluders.values import OccluderValues, accuracy_cell, known, levels_in, point
from snellen.report.words import UNKNOWN, index, interval, percent

POOLED = ("solid", RIGHT_ANGLE, "oblique")
Points = Sequence[Mapping[str, Any]]


def level_blocks(values: OccluderValues) -> list[Block]:
    """Figure 6 and table A1: accuracy at each level of real and synthetic occlusion."""
    kinds = [REAL, *values.types("synthetic")] if values.types(REAL) else values.types("synthetic")
    if not kinds:
        return []
    charts = [_curves(values, kind, "real occlusion" if kind == REAL else f"{kind} occluders") for kind in kinds]
    clustered = any(finding.facts.clustered for finding in values.levels)
    return [
        Heading("Accuracy by type and level", 3),
        *values.keys(),
        Panels(tuple(charts), "small"),
        _level_table(values, kinds),
        note(
            "Bars and brackets are 95% intervals"
            + (", whole groups of images such as videos drawn together" if clustered else "")
            + ". ▲ marks a number that may be an artefact of its occluder."
        ),
        *_relation_table(values),
    ]


def diffuse_blocks(values: OccluderValues) -> list[Block]:
    """Figures 14 and 15: solid, right-angle and oblique occluders, and lattices by the size of their squares."""
    there = values.types("diffuse")
    pooled = [kind for kind in POOLED if kind in there] or there
    panels = [
        (pooled, "Solid and diffuse occluders"),
        (values.types("lattice"), "Lattices by the size of their squares"),
    ]
    blocks: list[Block] = []
    for kinds, title in panels:
        if kinds:
            charts = [_curves(values, kind, kind) for kind in kinds]
            blocks += [Heading(title, 3), *values.keys(), Panels(tuple(charts), "small")]
            blocks.append(Details("The numbers behind the curves", (_share_table(values, kinds),)))
    return blocks


def tree_blocks(values: OccluderValues) -> list[Block]:
    """Figure 11: answers scored at each depth of the class tree, on the images of the best people where there are any."""
    everywhere = values.results.having(TreeAccuracyFacts)
    best = [finding for finding in everywhere if finding.name == "top_tree_accuracy"]
    findings = best or everywhere
    if not findings:
        return []
    shown = [finding for finding in findings if known(finding)]
    charts = []
    for level, name in levels_in(finding.facts for finding in shown).items():
        own = [finding for finding in shown if finding.facts.level == level]
        points = [point(finding, finding.model, str(finding.facts.depth)) for finding in own]
        charts.append(Chart(f"{name} hidden", depth_chart(points, values.rows)))
    seen = " on the images that the best people saw" if best else ""
    return [
        Heading("At each depth of the class tree", 3),
        lead(f"At a small depth, confusing a class with a near one is no error. Accuracy{seen}:"),
        *values.keys(),
        Panels(tuple(charts), "small"),
        _distance_table(values),
        note("Edges in the class tree from the truth to a wrong answer, mean and share of errors at each distance."),
    ]


# Tables


def _level_table(values: OccluderValues, kinds: Sequence[str]) -> Table:
    """Table A1: a row per model, a column per type, for each level."""
    rows: list[Row | Group] = []
    for level in levels_in(finding.facts for kind in kinds for finding in values.of_type(kind)):
        rows.append(Group(f"level {level}: {values.level_names(kinds[-1])[level]} hidden"))
        for model in values.rows:
            cells = (values.at(model, kinds[0], 0), *(values.at(model, kind, level) for kind in kinds))
            rows.append(Row(values.model_cell(model), tuple(map(accuracy_cell, cells))))
    return Table(heads("", "unoccluded", *kinds), tuple(rows), dense=True)


def _share_table(values: OccluderValues, kinds: Sequence[str]) -> Table:
    """Accuracy by type and bin of the hidden share."""
    names = values.level_names(kinds[0])
    rows: list[Row | Group] = []
    for kind in kinds:
        rows.append(Group(kind))
        for model in values.rows:
            cells = (accuracy_cell(values.at(model, kind, level)) for level in names)
            rows.append(Row(values.model_cell(model), tuple(cells)))
    return Table(heads("", *names.values()), tuple(rows), dense=True)


def _relation_table(values: OccluderValues) -> list[Block]:
    """Real occluders of the object's class and of others; nothing where that is not known."""
    own = [finding.facts for finding in values.levels if finding.facts.relation]
    if not own:
        return []
    levels = levels_in(own)
    head = heads("", *(f"{values.level_names(REAL)[level]} hidden" for level in levels))
    rows: list[Row | Group] = []
    for kind, relation in dict.fromkeys((facts.type, facts.relation) for facts in own):
        rows.append(Group(relation))
        for model in values.results.models:
            cells = (accuracy_cell(values.at(model, kind, level)) for level in levels)
            rows.append(Row(values.model_cell(model), tuple(cells)))
    return [Heading("By the class of the occluder", 3), Table(head, tuple(rows))]


def _distance_table(values: OccluderValues) -> Table:
    """How far off wrong answers are in the class tree."""
    findings = values.results.having(TreeDistanceFacts)
    levels = levels_in(finding.facts for finding in findings)
    rows = []
    for model in values.rows:
        own = {finding.facts.level: finding for finding in reversed(findings) if finding.model == model}
        cells = tuple(_distance_cell(own.get(level)) for level in levels)
        rows.append(Row(values.model_cell(model), cells))
    return Table(heads("", *(f"{name} hidden" for name in levels.values())), tuple(rows))


def _distance_cell(finding: StoredFinding[TreeDistanceFacts] | None) -> TableCell:
    if finding is None or not known(finding):
        return TableCell(UNKNOWN)
    shares = ", ".join(f"{edges}: {percent(share, 0)}" for edges, share in sorted(finding.facts.shares.items()))
    return TableCell(index(finding.value), finding.value, interval(finding.low, finding.high, "index"), note=shares)


# Charts


def _curves(values: OccluderValues, kind: str, title: str) -> Chart:
    """A line per model, level by level, under one type."""
    axis = f"hidden share of the {values.share_of(kind)}"
    return Chart(title, level_chart(values.points(kind), values.rows, axis, list(values.level_names(kind).values())))


def level_chart(points: Points, names: Sequence[str], title: str, order: Sequence[str]) -> dict[str, Any]:
    """Accuracy against the level of occlusion, a line for each model and for people; a level without images has no point."""
    return _lines(points, names, {"title": title, "sort": list(order)})


def depth_chart(points: Points, names: Sequence[str]) -> dict[str, Any]:
    """Accuracy against the depth of the class tree at which answers are scored (figure 11 of Kassaw et al. 2024)."""
    return _lines(points, names, {"title": "depth of the class tree"})


def _lines(points: Points, names: Sequence[str], axis: Mapping[str, Any]) -> dict[str, Any]:
    x = {"field": "level", "type": "ordinal", **axis, "axis": {"labelAngle": 0}}
    hues = [INK if name == PEOPLE else colour(place) for place, name in enumerate(names)]
    dashes = [[3, 2] if name == PEOPLE else dash(place) for place, name in enumerate(names)]
    at = {"x": x, "y": share("value", "accuracy"), "color": looks_by_name("model", names, hues)}
    bars = where("isValid(datum.low) && isValid(datum.high)", interval_bars(at, opacity=0.45, strokeWidth=1.5))
    curves = lines({**at, "strokeDash": looks_by_name("model", names, dashes)})
    return chart(240, 190, points, bars, curves, filled_points(at, 36))
