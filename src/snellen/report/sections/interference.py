"""Interference: where the errors go, DI per distortion beside mild noise and chance, and along a setting that varies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.blocks import (
    Badge,
    Block,
    Cell,
    Chart,
    Details,
    Facts,
    Group,
    Heading,
    Line,
    Panels,
    Row,
    Span,
    Table,
    code,
    heads,
    lead,
    note,
)
from snellen.report.results import Finding, Results
from snellen.report.sections.interference_charts import bar_chart, bar_ends, highest, index_chart, sweep_chart
from snellen.report.sections.interference_values import AUDIT, MEASURE, bars_of, indices_of, sweeps_of
from snellen.report.sections.section import Section
from snellen.report.sections.shape import shuffled
from snellen.report.table import di_badge, trust_of
from snellen.report.words import UNKNOWN, in_words, index, is_known, percent

TWO_CLASSES = "two classes: no dominant class can be shown"


def interference_blocks(results: Results) -> list[Block]:
    """The DI of every distortion, what chance gives, and the change in errors by class; nothing without this audit."""
    groups = bars_of(results)
    if not groups:
        return []
    return [Heading("Where the errors go"), *_index_blocks(results), *_bar_blocks(groups, results)]


def _index_blocks(results: Results) -> list[Block]:
    models, sweeps = indices_of(results), sweeps_of(results.of_audit(AUDIT))
    if not models:
        return []
    worst = ", the tick the worst case: the dominant class's highest rise in any run" if results.repeated else ""
    end = highest(models)
    charts = [
        *(_index_panel(model, end, results) for model in models if model["rows"]),
        *(_sweep_panel(sweep, results) for sweep in sweeps),
    ]
    return [
        lead(
            "The DI index of each distortion, with the class that takes the new errors. The dashed line is the DI of mild "
            "noise: what is clearly above it (and chance) is coloured. The thin line is the 95% interval" + worst + "."
        ),
        *([Facts(results.keys())] if sweeps and results.several else []),
        Panels(tuple(charts)),
        Details("Chance, worst case and spread", (_chance_table(models, results), note(CHANCE))),
    ]


CHANCE = (
    "As published is the point estimate of Marcu & Prügel-Bennett (2022), equation 1; ± is its spread over runs. The bars show "
    "an estimate that undoes what chance adds to it. In the worst case per run each run may have a class of its own. Each "
    "chance: how often it reaches the DI as published (p, of 1,000 draws), what it gives with the clean errors kept as they are, "
    "and what it gives as if there were no clean errors, as in the paper. A single run cannot be told from the second kind."
)


def _index_panel(model: Mapping[str, Any], end: float, results: Results) -> Chart:
    caption: list[Line] = []
    if noise := model["noise"]:
        dominant = f", dominant class {noise['dominant']}" if noise["dominant"] else ""
        caption.append((f"mild noise: DI {index(noise['value'])}{dominant}",))
    if model["classes"] < 3:
        caption.append((TWO_CLASSES,))
    return Chart(model["model"], index_chart(model, end), tuple(caption), results.own_hue(model["model"]))


def _sweep_panel(sweep: Mapping[str, Any], results: Results) -> Chart:
    fixed: tuple[Line, ...] = ((code(sweep["fixed"]),),) if sweep["fixed"] else ()
    title = f"DI along {sweep['setting']} of {sweep['family']}"
    return Chart(title, sweep_chart(sweep, list(results.models)), fixed)


def _chance_table(models: Sequence[Mapping[str, Any]], results: Results) -> Table:
    rows: list[Row | Group] = []
    for model in models:
        rows += [Group(model["model"])] if results.several else []
        rows += [_chance_row(row) for row in (*model["rows"], *([model["noise"]] if model["noise"] else []))]
    head = heads(
        "",
        "DI as published",
        "worst case",
        "worst per run",
        "errors at random",
        "all errors of a run on one random class",
    )
    return Table(head, tuple(rows))


def _chance_row(row: Mapping[str, Any]) -> Row:
    names = (("published_index", "std"), ("worst_case", "worst_case_std"), ("per_run_worst", "per_run_worst_std"))
    pairs = [(row[value], row[std]) for value, std in names]
    cells = [Cell(index(value) + (f" ± {index(std)}" if std is not None else ""), value) for value, std in pairs]
    return Row(Cell(row["words"]), (*cells, *(_chance_cell(row["nulls"], kind) for kind in ("uniform", "one"))))


def _chance_cell(nulls: Mapping[str, Mapping[str, float | None]], kind: str) -> Cell:
    if not nulls or nulls[kind]["p"] is None:
        return Cell(UNKNOWN)
    alone, p = nulls[f"{kind}_without_clean_errors"], nulls[kind]["p"]
    expected = f"{index(nulls[kind]['mean'])} ± {index(nulls[kind]['std'])}"
    without = f"{index(alone['mean'])} ± {index(alone['std'])}"
    return Cell(f"p {p:.3f}", p, badge=Badge(f"{expected}; without clean errors {without}"))


def _bar_blocks(groups: Sequence[Mapping[str, Any]], results: Results) -> list[Block]:
    blocks: list[Block] = [
        lead(
            "Change in the share of wrong answers per predicted class, distorted less clean, in percentage points. One long "
            "bar suggests that the distortion itself looks like that class; short bars on many classes, that it rather "
            "hides or confuses. The dashed line is the most that a class gains under mild noise. "
            + ("Whiskers span the runs." if results.repeated else "One run: no spread over runs.")
        )
    ]
    if not results.several:
        charts = [
            _bar_panel(chart, group, group["words"], (code(group["distortion"]),), "")
            for group in groups
            for chart in group["charts"]
        ]
        return [*blocks, Panels(tuple(charts), "small")]
    for group in groups:
        panels = [
            _bar_panel(chart, group, chart["model"], (), results.hue(chart["model"])) for chart in group["charts"]
        ]
        blocks += [Heading(group["words"], 3, group["distortion"]), Panels(tuple(panels), "small")]
    return blocks


def _bar_panel(chart: Mapping[str, Any], group: Mapping[str, Any], title: str, detail: Line, hue: str) -> Chart:
    caption: list[Line] = [detail] if detail else []
    if trust := chart["trust"]:
        few = chart["classes"] < 3
        dominant = "no dominant class can be shown" if few else f"dominant class {trust['dominant'] or UNKNOWN}"
        text = f"DI {index(trust['index'])}, {dominant} {trust['sign']}".rstrip()
        caption.append((Span(text, "flag" if trust["mark"] == "flagged" else "", trust["text"]),))
    if chart["bars"] and len(chart["bars"]) < chart["classes"]:
        caption.append((f"the {len(chart['bars'])} largest of {chart['classes']} classes",))
    if not any(bar["mean"] for bar in chart["bars"]):
        return Chart(title, {}, tuple(caption), hue, below=(note("no change in any class"),))
    return Chart(title, bar_chart(chart, bar_ends(group["charts"])), tuple(caption), hue)


def hardest_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """Under which of the distortions accuracy is lowest."""
    accuracies = [
        one
        for one in results.of_audit(AUDIT)
        if one["model"] == model and one["name"] == "distorted_accuracy" and is_known(one["value"])
    ]
    if not accuracies:
        return []
    worst = min(accuracies, key=lambda one: one["value"])
    words = in_words(worst["distortions"][0])
    return [
        (
            "What breaks it",
            f"Of the single distortions the hardest is: {words} ({percent(worst['value'])}).",
        )
    ]


def index_badge(finding: Finding) -> Badge | None:
    """At a DI the class that takes the new errors and what chance gives; at an accuracy the DI of its distortion."""
    trust = trust_of(finding)
    if finding["name"] != MEASURE or trust is None:
        return di_badge(finding)
    unshown = trust["null95"] is None and trust["index"] is not None
    beside = TWO_CLASSES if unshown else f"by chance up to {index(trust['null95'])}"
    return Badge(
        f"{trust['dominant'] or UNKNOWN} {trust['sign']}".rstrip(), trust["mark"] == "flagged", trust["text"], beside
    )


INTERFERENCE = Section(
    blocks=interference_blocks,
    verdict=hardest_sentence,
    columns={"shuffled": lambda one: shuffled("distorted_accuracy", one)},
    last=frozenset({MEASURE}),  # accuracies first, then their DI
    badge=index_badge,
)
