"""Concepts: how many units detect something people have a name for, of which category, and what that looks like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from snellen.report.blocks import (
    Block,
    Cell,
    Chart,
    Facts,
    Gallery,
    Group,
    Heading,
    Panels,
    Picture,
    Row,
    Table,
    heads,
    lead,
    note,
)
from snellen.report.charts import CONFIG, by_name
from snellen.report.pictures import packed_address
from snellen.report.results import Finding, Results
from snellen.report.sections.section import Section
from snellen.report.survey_rows import survey_rows
from snellen.report.words import UNKNOWN, count_of, interval, is_known, join_words, percent

AUDIT = "concepts"


def concept_blocks(results: Results) -> list[Block]:
    """The counts of every model, a chart of them, and the units that follow a concept best; nothing without this audit."""
    shares = _named(results, "detector_share")
    if not shares:
        return []
    facts = shares[0]["facts"]
    pictures = list(_pictures(shares, results))
    blocks: list[Block] = [
        Heading("Concepts"),
        lead(
            f"A unit of a layer detects a concept where its highest values overlap with it: IoU above {facts['threshold']:g} "
            f"over all {facts['images']:,} images. A concept counts once, however many units detect it."
        ),
        _counts(shares, results),
        Facts(results.keys()),
        Panels((Chart("Different concepts by category", _chart(shares, results)),)),
        note(
            f"Concepts that were looked for: {_looked_for(facts)}. The interval of the share takes units as drawn at random."
        ),
    ]
    if pictures:
        blocks += [
            Heading("Units and the images that excite them most", 3),
            note(
                "Bright: where the unit is above its threshold. The units of the highest IoU, different concepts first."
            ),
            Gallery(heads("concept", *[""] * _most(pictures)), tuple(pictures), across=2, side=64),
        ]
    return blocks


def _named(results: Results, name: str) -> list[Finding]:
    return [one for one in results.of_audit(AUDIT) if one["name"] == name and is_known(one["value"])]


def _categories(shares: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(name for one in shares for name in one["facts"]["concepts"]))


def _counts(shares: Sequence[Finding], results: Results) -> Table:
    """A row per model: its layer, how many units detect, how many different concepts, then those by category."""
    categories = _categories(shares)
    rows = []
    for one in shares:
        facts = one["facts"]
        unique = sum(facts["unique"].values())
        cells = (
            Cell(facts["layer"], note=count_of(facts["units"], "unit"), tone="code"),
            Cell(percent(one["value"]), one["value"], interval(one["low"], one["high"], "share")),
            Cell(_number(unique), unique),
            *(Cell(_number(facts["unique"].get(name)), facts["unique"].get(name)) for name in categories),
        )
        rows.append(Row(Cell(one["model"], hue=results.own_hue(one["model"])), cells))
    return Table(heads("", "layer", "units that detect", "different concepts", *categories), tuple(rows), dense=True)


def _number(count: float | None) -> str:
    """A count, with a decimal where it is the mean of several runs."""
    return UNKNOWN if count is None else f"{count:g}" if count == int(count) else f"{count:.1f}"


def _looked_for(facts: dict[str, Any]) -> str:
    return join_words([f"{count} of the category {name}" for name, count in facts["concepts"].items()])


def _chart(shares: Sequence[Finding], results: Results) -> dict[str, Any]:
    """Bars of the different concepts of each category, the models side by side."""
    values = [
        {"model": one["model"], "category": name, "unique": one["facts"]["unique"].get(name)}
        for one in shares
        for name in _categories(shares)
    ]
    models = list(results.models)
    return {
        "width": 420,
        "height": 200,
        "data": {"values": values},
        "mark": {"type": "bar"},
        "encoding": {
            "x": {"field": "category", "type": "nominal", "title": None, "sort": None, "axis": {"labelAngle": 0}},
            "xOffset": {"field": "model", "type": "nominal", "sort": models},
            "y": {"field": "unique", "type": "quantitative", "title": "different concepts", "axis": {"tickMinStep": 1}},
            "color": by_name("model", models),
        },
        "config": CONFIG,
    }


def _pictures(shares: Sequence[Finding], results: Results) -> Iterator[Row | Group]:
    """A row per unit with its best images, the models below each other."""
    for one in shares:
        rows = _stored_rows(one, results)
        best = [unit for unit in one["facts"]["best"] if unit["unit"] in rows]
        if best and results.several:
            yield Group(one["model"], results.hue(one["model"]))
        for unit in best:
            about = f"{unit['category']}, IoU {unit['iou']:.2f}, unit {unit['unit']}"
            pictures = [packed_address(content) for content in rows[unit["unit"]]]
            alt = f"{unit['concept']}: an image that excites unit {unit['unit']}"
            yield Row(Cell(unit["concept"], note=about), tuple(Picture(source, alt) for source in pictures if source))


def _stored_rows(one: Finding, results: Results) -> dict[int, list[bytes]]:
    """The pictures of the units of a model's first run, by unit; none where they are not stored."""
    rows = survey_rows(one, results)
    return {int(row["unit"]): list(row["pictures"]) for row in rows if row.get("pictures") is not None}


def _most(rows: Sequence[Row | Group]) -> int:
    return max((len(row.cells) for row in rows if isinstance(row, Row)), default=1)


def concept_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """How many units detect how many concepts, most of which categories."""
    one = next((one for one in _named(results, "detector_share") if one["model"] == model), None)
    if one is None:
        return []
    facts = one["facts"]
    unique = {name: count for name, count in facts["unique"].items() if count}
    parts = join_words([f"{_number(count)} {name}" for name, count in unique.items()])
    what = f"{_number(sum(unique.values()))} different concepts ({parts})" if unique else "no concept"
    sentence = f"{percent(one['value'])} of the {facts['units']:,} units of {facts['layer']} detect {what}."
    return [("Concepts", sentence)]


CONCEPTS = Section(
    blocks=concept_blocks,
    verdict=concept_sentence,
    columns={"concepts": lambda one: one["name"] == "unique_concepts"},
    meanings={
        "Detector": "A unit whose highest values overlap with one concept: the pixels both cover, over those that either covers, "
        "counted over all images, are more than the threshold (Bau et al. 2017). The name is that of its best concept.",
    },
)
