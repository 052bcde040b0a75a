"""Worst-case edits: what the search found, how it compares with chance, and which of the edits matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.audits.task_words import WORDS
from snellen.report.blocks import Block, Cell, Chart, Facts, Group, Heading, Panels, Row, Table, heads, lead, note
from snellen.report.results import Finding, Results
from snellen.report.sections.section import Section
from snellen.report.sections.shift_charts import density_chart, minima_chart
from snellen.report.sections.shift_pictures import picture_blocks
from snellen.report.table import di_badge
from snellen.report.words import UNKNOWN, interval, is_known, join_words, percent

AUDIT = "shift"
CLEAR = 0.05  # the p-value below which the effect of an edit is called clear


def shift_blocks(results: Results) -> list[Block]:
    """The worst edits of each model with their effects, and the charts of figure 2; nothing without this audit."""
    worst = _named(results, "worst_accuracy")
    if not worst:
        return []
    return [
        Heading("Worst-case edits"),
        lead(
            "A search combined harmless-looking edits, such as a little less contrast or a little more red, until it found those "
            "under which the model does worst. These were then asked on all images, which the column of worst edits is about; "
            f"they are pictured {'under Examples' if results.task == 'classification' else 'below'}."
        ),
        _summary(worst, results) if results.task == "classification" else _task_summary(worst, results),
        Facts(results.keys()),
        Panels(tuple(_charts(worst, results))),
        note(
            "Dashed: one random tuple in a thousand is worse than this. Triangles: the lowest of each search. The charts and the "
            f"{'last three columns' if results.task == 'classification' else 'columns of RS and ES'} are about the images that "
            "were searched."
        ),
        _effects(worst, results),
        *(picture_blocks(results, worst) if results.task != "classification" else ()),
    ]


def _named(results: Results, name: str) -> list[Finding]:
    return [one for one in results.of_audit(AUDIT) if one["name"] == name and is_known(one["value"])]


def _of(results: Results, name: str, model: str) -> Finding | None:
    return next((one for one in _named(results, name) if one["model"] == model), None)


def _summary(worst: Sequence[Finding], results: Results) -> Table:
    head = heads("", "clean", "worst edits", "lowest of random", "lowest of search", "below 0.1% after")
    rows = []
    for one in worst:
        clean, chance = results.clean(one["model"]), _of(results, "random_worst", one["model"])
        searched = _of(results, "searched_worst", one["model"])
        cells = (
            Cell(UNKNOWN if clean is None else percent(clean["value"])),
            Cell(percent(one["value"]), one["value"], interval(one["low"], one["high"], "share"), di_badge(one)),
            Cell(UNKNOWN if chance is None else percent(chance["value"])),
            Cell(UNKNOWN if searched is None else percent(searched["value"])),
            Cell(_passed(chance), tone="soft"),
        )
        rows.append(Row(Cell(one["model"], hue=results.hue(one["model"])), cells))
    return Table(head, tuple(rows))


def _task_summary(worst: Sequence[Finding], results: Results) -> Table:
    """Clean, RS and ES as in tables 4 and 5 of Volpi & Murino (2019), then all images under the worst edits."""
    head = heads("", "clean", "RS: lowest of random", "ES: lowest of search", "worst edits", "below 0.1% after")
    rows = []
    for one in worst:
        clean, chance = results.clean(one["model"]), _of(results, "random_worst", one["model"])
        searched = _of(results, "searched_worst", one["model"])
        cells = (*map(_share, (clean, chance, searched, one)), Cell(_passed(chance), tone="soft"))
        name = Cell(one["model"], note=f"N = {one['facts']['length']}", hue=results.hue(one["model"]))
        rows.append(Row(name, cells))
    return Table(head, tuple(rows))


def _share(one: Finding | None) -> Cell:
    """A finding as a cell, with the mIoU of the same images where there is one."""
    if one is None:
        return Cell(UNKNOWN)
    ends = "" if one["low"] is None else interval(one["low"], one["high"], "share")
    miou = one["facts"].get("miou")
    return Cell(percent(one["value"]), one["value"], ends, note="" if miou is None else f"mIoU {percent(miou)}")


def _passed(chance: Finding | None) -> str:
    """After how many evaluations each search was below the threshold of random tuples."""
    if chance is None:
        return UNKNOWN
    numbers = [number for run in chance["facts"]["passed"] for number in run]
    words = ["never" if number is None else f"{number:,}" for number in numbers[:6]]
    return join_words(words) + (" …" if len(numbers) > 6 else "")


def _charts(worst: Sequence[Finding], results: Results) -> list[Chart]:
    charts = []
    for one in worst:
        chance = _of(results, "random_worst", one["model"])
        if chance is not None:
            bins = [{"low": low, "high": high, "count": count} for low, high, count in chance["facts"]["density"][0]]
            lowest = [curve[-1][1] for curve in one["facts"]["curves"][0]]
            spec = density_chart(bins, chance["facts"]["quantile"][0], lowest, WORDS[results.task].accuracy)
            charts.append(Chart(f"{one['model']}: random tuples", spec))
    points: list[dict[str, Any]] = [
        {"model": one["model"], "search": f"{one['model']} {run} {restart}", "evaluations": at, "accuracy": value}
        for one in worst
        for run, curves in enumerate(one["facts"]["curves"])
        for restart, curve in enumerate(curves)
        for at, value in curve
    ]
    return [*charts, Chart("The search", minima_chart(points, list(results.models), WORDS[results.task].accuracy))]


def _effects(worst: Sequence[Finding], results: Results) -> Table:
    """The edits of each model's worst tuple, in the order they are applied, with what comes back without each."""
    rows: list[Row | Group] = []
    for one in worst:
        rows.append(Group(f"{one['model']}: {one['facts']['edits'][0]}", results.hue(one["model"])))
        for effect in results.of_audit(AUDIT):
            if effect["name"] == "edit_effect" and effect["model"] == one["model"]:
                p = effect["facts"]["p"]
                cells = (
                    Cell(
                        f"{100 * effect['value']:+.1f} points" if is_known(effect["value"]) else UNKNOWN,
                        effect["value"],
                    ),
                    Cell(interval(effect["low"], effect["high"], "difference")),
                    Cell("yes" if p is not None and p < CLEAR else "no", tone="soft"),
                )
                rows.append(Row(Cell(effect["facts"]["words"]), cells))
    head = heads("edit, from first to last", f"{WORDS[results.task].accuracy} without it", "95% interval", "clear")
    return Table(head, tuple(rows))


def shift_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """How far the worst edits bring the model down, and which they are."""
    one, clean = _of(results, "worst_accuracy", model), results.clean(model)
    if one is None or clean is None:
        return []
    facts = one["facts"]
    sentence = (
        f"Of all combinations of {facts['length']} edits that were tried, the worst brings it from {percent(clean['value'])} "
        f"to {percent(one['value'])}: {facts['words'][0]}."
    )
    return [("What breaks it", sentence)]


SHIFT = Section(
    blocks=shift_blocks,
    verdict=shift_sentence,
    columns={"worst edits": lambda one: one["name"] == "worst_accuracy"},
    elsewhere=frozenset({"edit_effect"}),
)
