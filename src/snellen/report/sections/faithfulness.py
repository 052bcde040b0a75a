"""Faithfulness: the six panels of deletion and insertion, the areas with their errors, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from snellen.report.blocks import Block, Cell, Chart, Facts, Heading, Panels, Row, Table, heads, lead, note
from snellen.report.results import Finding, Results
from snellen.report.sections.faithfulness_charts import curve_points, panel_chart
from snellen.report.sections.faithfulness_gallery import stage_blocks
from snellen.report.sections.section import Section
from snellen.report.words import UNKNOWN, count_of, index, interval, is_known

AUDIT = "faithfulness"
PAIRS = {  # a finding of deletion → that of the same images as insertion, and which tiles come first in both
    "inter_model_deletion": ("inter_model_insertion", "least relevant first", "most relevant first"),
    "morf_deletion": ("lerf_insertion", "most relevant first", "least relevant first"),
}


def faithfulness_blocks(results: Results) -> list[Block]:
    """The panels and the table of each attribution method; nothing without this audit."""
    deletions = [one for one in results.of_audit(AUDIT) if one["name"] in PAIRS]
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
        Facts(results.keys()),
    ]
    for key in dict.fromkeys(map(_group, deletions)):
        blocks += _of_group(results, [one for one in deletions if _group(one) == key])
    return blocks


def _group(one: Finding) -> tuple[Any, ...]:
    """What the findings of one set of panels have in common."""
    return one["name"], *(one["facts"][name] for name in ("method", "layer", "tile", "fill", "evaluation"))


def _of_group(results: Results, deletions: Sequence[Finding]) -> list[Block]:
    facts = deletions[0]["facts"]
    layer = "" if facts["layer"] is None else f" at layer {facts['layer']}"
    insertion, first, other = PAIRS[deletions[0]["name"]]
    insertions = [twin for one in deletions if (twin := _twin(results, one, insertion)) is not None]
    known = [one for one in deletions if is_known(one["value"])]
    pairs = _pairs(results, deletions)
    return [
        Heading(f"{facts['method']}{layer}: {first} against random", 3),
        *([Panels(tuple(_panels(results, known, "deleted", first)))] if known else []),
        *([Panels(tuple(_panels(results, insertions, "inserted", other)))] if known else []),
        note(
            "Bands: one standard error over the images. Scores are 1 for whole images and 0 for hidden ones, on average."
        ),
        _areas(results, deletions, insertions),
        note(
            "Deletion, insertion: the area between both curves, 0 to 100, with its 95% interval and standard error over images. "
            f"That of a step, on average, is what Won et al. (2023) publish, on a scale of 0 to 1. {_cost(deletions)}"
        ),
        *_differences(pairs),
        *(stage_blocks(known, pairs, results) if deletions[0]["name"] == "inter_model_deletion" else []),
    ]


def _twin(results: Results, one: Finding, name: str) -> Finding | None:
    """The finding of the same images as insertion."""
    others = (other for other in results.of_audit(AUDIT) if other["name"] == name and other["model"] == one["model"])
    return next((other for other in others if _group(other)[1:] == _group(one)[1:]), None)


def _panels(results: Results, findings: Sequence[Finding], verb: str, first: str) -> list[Chart]:
    titles = {"order": first.capitalize(), "random": "Random order", "difference": "Difference"}
    charts = []
    for name, title in titles.items():
        points = [row for one in findings for row in curve_points(one["model"], one["facts"]["curves"][name])]
        y = "difference of scores" if name == "difference" else "normalised score"
        charts.append(
            Chart(f"{title}, {verb}", panel_chart(points, list(results.models), f"{verb} share of the tiles", y))
        )
    return charts


def _areas(results: Results, deletions: Sequence[Finding], insertions: Sequence[Finding]) -> Table:
    head = heads("area", "by relevance", "at random", "deletion", "insertion", "standard error")
    rows = []
    for one in deletions:
        facts = one["facts"]
        twin = next((other for other in insertions if other["model"] == one["model"]), None)
        cells = (
            Cell(index(facts["order_area"]), facts["order_area"]),
            Cell(index(facts["random_area"]), facts["random_area"]),
            _area(one),
            Cell(UNKNOWN) if twin is None else _area(twin),
            Cell(index(facts["se"]), facts["se"], note=f"of a step {index(facts['se_steps'])}"),
        )
        rows.append(Row(Cell(one["model"], hue=results.own_hue(one["model"])), cells))
    return Table(head, tuple(rows))


def _pairs(results: Results, deletions: Sequence[Finding]) -> list[Finding]:
    """The paired differences between models, for the published order."""
    facts = deletions[0]["facts"]
    if deletions[0]["name"] != "inter_model_deletion":
        return []
    return [
        one
        for one in results.of_audit(AUDIT)
        if one["name"] == "inter_model_deletion_difference"
        and all(one["facts"][name] == facts[name] for name in ("method", "layer"))
        and is_known(one["value"])
    ]


def _differences(pairs: Sequence[Finding]) -> list[Block]:
    if not pairs:
        return []
    head = heads("on the same images", "difference", "95% interval", "p, corrected", "could be shown")
    return [Table(head, tuple(Row(Cell(one["model"]), _difference(one)) for one in pairs))]


def _difference(one: Finding) -> tuple[Cell, ...]:
    return (
        Cell(index(one["value"]), one["value"]),
        Cell(interval(one["low"], one["high"], "index")),
        Cell(f"{one['facts']['p_corrected']:.2g}"),
        Cell(index(one["facts"]["detectable"]), tone="soft"),
    )


def _area(one: Finding) -> Cell:
    return Cell(index(one["value"]), one["value"], interval(one["low"], one["high"], "index"), bold=True)


def _cost(deletions: Sequence[Finding]) -> str:
    """How the curves were looked at, what that cost and how far the areas may be off for it."""
    facts = [one["facts"] for one in deletions]
    passes, full = (sum(sum(one[name]) for one in facts) for name in ("asked", "full"))
    side, fill = count_of(facts[0]["tile"], "pixel"), facts[0]["fill"].replace("_", " ")
    tiles = f"Tiles of {side}, filled with {fill}; {passes:,} images asked"
    if facts[0]["evaluation"] == "full" or not passes:
        return f"{tiles}, every point of every curve."
    errors = [one["sampling_error"] for one in facts if is_known(one["sampling_error"])]
    worst = f" For it, areas may be off by {max(errors):.2f} (90% confidence)." if errors else ""
    return f"{tiles}, {full / passes:.1f} times fewer than all points of all curves need.{worst}"


def faithfulness_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """Whether the maps find what the answers rest on better than chance, as far as the interval shows."""
    sentences = []
    for one in results.of_audit(AUDIT):
        if one["model"] == model and one["name"] == "inter_model_deletion" and is_known(one["value"]):
            sure = "find" if (one["low"] or 0) > 0 else "are not shown to find"
            sentences.append(
                (
                    "Faithful maps",
                    f"Its maps {sure} the tiles that its answers rest on ({one['topic']}): hiding the least relevant first keeps "
                    f"{index(one['value'])} of 100 more than hiding at random (95% interval "
                    f"{interval(one['low'], one['high'], 'index')}).",
                )
            )
    return sentences


FAITHFULNESS = Section(
    blocks=faithfulness_blocks,
    verdict=faithfulness_sentence,
    columns={"faithfulness": lambda one: one["name"] == "inter_model_deletion"},
    elsewhere=frozenset({"inter_model_insertion", "lerf_insertion"}),
    meanings={
        "Inter-model deletion": "The area between the score's curve when the least relevant tiles are deleted first and that of "
        "random orders, 0 to 100 (Won et al. 2023). 0 is what a map that says nothing gets.",
    },
)
