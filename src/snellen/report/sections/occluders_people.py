"""People beside models under occluders: table 3 of Kassaw et al. 2024, and the gap by type and level."""

from __future__ import annotations

from snellen.report.blocks import Block, Cell, Group, Heading, Row, Table, heads, note
from snellen.report.results import Finding
from snellen.report.sections.occluders_tables import accuracy_cell, model_cell
from snellen.report.sections.occluders_values import CLEAN, PEOPLE, Values, levels_in
from snellen.report.words import UNKNOWN, count_of, interval, is_known, join_words, percent, points


def people_blocks(values: Values) -> list[Block]:
    """Who is better, by how much and on what; nothing without people."""
    outliers = values.one("human_outliers", PEOPLE)
    if outliers is None:
        return []
    return [Heading("People and models", 3), *_top(values), *_gaps(values), note(_who(outliers)), *_clicks(values)]


def _top(values: Values) -> list[Block]:
    """Table 3: people and models at each level on the images that the best people saw."""
    best = values.named("top_human_accuracy")
    if not best:
        return []
    levels = levels_in(best)
    people = {"people": "human_accuracy", _best(best[0]): "top_human_accuracy"}
    rows = [
        Row(Cell(who, bold=True), tuple(accuracy_cell(_at(values, name, PEOPLE, level)) for level in levels))
        for who, name in people.items()
    ]
    models = dict.fromkeys(one["model"] for one in values.named("top_image_accuracy"))
    for model in models:
        cells = tuple(accuracy_cell(_at(values, "top_image_accuracy", model, level)) for level in levels)
        rows.append(Row(model_cell(values, model), cells))
    names = {one["facts"]["level"]: one["facts"]["level_name"] for one in best}
    head = heads("", *(f"{names[level]} hidden" for level in levels))
    return [Table(head, tuple(rows)), note("Models on the images that the best people saw; people on all of theirs.")]


def _at(values: Values, name: str, model: str, level: int) -> Finding | None:
    return values.one(name, model, level=level)


def _best(one: Finding) -> str:
    return str(one["label"]).removeprefix("Accuracy of ").partition(":")[0]


def _gaps(values: Values) -> list[Block]:
    """People less model, by type and level."""
    findings = [one for one in values.named("human_gap") if is_known(one["value"])]
    if not findings:
        return []
    models = list(dict.fromkeys(one["model"] for one in findings))
    head = (
        Cell("people less model"),
        Cell("people"),
        *(Cell(model, hue=values.results.own_hue(model)) for model in models),
    )
    rows: list[Row | Group] = []
    kinds = dict.fromkeys(one["facts"]["type"] for one in findings)
    for kind in sorted(kinds, key=lambda one: ("all", CLEAN).index(one) if one in ("all", CLEAN) else 2):
        own = [one for one in findings if one["facts"]["type"] == kind]
        if kind not in (CLEAN, "all"):
            rows.append(Group(f"{kind} occluders"))
        for level in sorted({one["facts"].get("level", 0) for one in own}):
            here = {one["model"]: one for one in own if one["facts"].get("level", 0) == level}
            first = next(iter(here.values()))
            name = {"all": "all images", CLEAN: "unoccluded"}.get(kind) or f"{first['facts']['level_name']} hidden"
            cells = [_gap(here.get(model)) for model in models]
            rows.append(
                Row(Cell(name, note=count_of(first["n"], "image")), (Cell(percent(first["facts"]["human"])), *cells))
            )
    return [Table(head, tuple(rows), dense=True)]


def _gap(one: Finding | None) -> Cell:
    if one is None:
        return Cell(UNKNOWN)
    sure = one["low"] is not None and (one["low"] > 0 or one["high"] < 0)
    return Cell(points(one["value"]), one["value"], interval(one["low"], one["high"], "difference"), bold=sure)


def _who(outliers: Finding) -> str:
    """How many people there were, and who was left out."""
    if not is_known(outliers["value"]):
        return f"People cannot be compared with each other: {outliers['text']}. All answers count."
    facts = outliers["facts"]
    out = facts["outliers"]
    left = (
        f"left out as a low outlier by Tukey's rule: {join_words(out)}"
        if out
        else "none is a low outlier by Tukey's rule"
    )
    return (
        f"{count_of(facts['answers'], 'answer')} of {count_of(facts['observers'], 'observer')}; {left}. Intervals are a "
        "bootstrap over people and images."
    )


def _clicks(values: Values) -> list[Block]:
    """Clicks beside the object, by level."""
    findings = values.named("wrong_object_clicks")
    if not findings:
        return []
    rows = tuple(Row(Cell(one["facts"].get("level_name", "all levels")), (accuracy_cell(one),)) for one in findings)
    return [Table(heads("hidden", "clicks beside the object"), rows)]
