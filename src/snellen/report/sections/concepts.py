"""Concepts: how many units detect something people have a name for, of which category, and what that looks like."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from snellen.audits.concepts import ConceptFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.answers import survey_rows
from snellen.report.blocks import (
    Block,
    Chart,
    FactLine,
    Gallery,
    Group,
    Heading,
    Panels,
    Picture,
    Row,
    Table,
    TableCell,
    heads,
    lead,
    note,
)
from snellen.report.charts import by_name, chart, layer, nominal, quantitative
from snellen.report.glossary import meanings
from snellen.report.pictures import packed_address
from snellen.report.results import Results
from snellen.report.sections.section import Section
from snellen.report.words import UNKNOWN, count_of, interval, is_known, join_words, percent

Counts = StoredFinding[ConceptFacts]


class UnitPictures(msgspec.Struct, frozen=True):
    """A row of a dissection: a unit, and pictures of the images that excite it most; None for one that is not shown."""

    unit: int
    pictures: list[bytes] | None = None


def concept_blocks(results: Results) -> list[Block]:
    """The counts of every model, a chart of them, and the units that follow a concept best; nothing without this audit."""
    shares = _shares(results)
    if not shares:
        return []
    facts = shares[0].facts
    pictures = list(_pictures(shares, results))
    blocks: list[Block] = [
        Heading("Concepts"),
        lead(
            f"A unit of a layer detects a concept where its highest values overlap with it: IoU above {facts.threshold:g} "
            f"over all {facts.images:,} images. A concept counts once, however many units detect it."
        ),
        _counts(shares, results),
        FactLine(results.keys()),
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


def _shares(results: Results) -> list[Counts]:
    """The share of units that detect, of each model that has one."""
    findings = results.having(ConceptFacts)
    return [finding for finding in findings if finding.name == "detector_share" and is_known(finding.value)]


def _categories(shares: Sequence[Counts]) -> list[str]:
    return list(dict.fromkeys(category for finding in shares for category in finding.facts.concepts))


def _counts(shares: Sequence[Counts], results: Results) -> Table:
    """A row per model: its layer, how many units detect, how many different concepts, then those by category."""
    categories = _categories(shares)
    rows = []
    for finding in shares:
        facts = finding.facts
        unique = sum(facts.unique.values())
        by_category = [facts.unique.get(category) for category in categories]
        cells = (
            TableCell(facts.layer, note=count_of(facts.units, "unit"), tone="code"),
            TableCell(percent(finding.value), finding.value, interval(finding.low, finding.high, "share")),
            TableCell(_number(unique), unique),
            *(TableCell(_number(count), count) for count in by_category),
        )
        rows.append(Row(TableCell(finding.model, hue=results.own_hue(finding.model)), cells))
    return Table(heads("", "layer", "units that detect", "different concepts", *categories), tuple(rows), dense=True)


def _number(count: float | None) -> str:
    """A count, with a decimal where it is the mean of several runs."""
    return UNKNOWN if count is None else f"{count:g}" if count == int(count) else f"{count:.1f}"


def _looked_for(facts: ConceptFacts) -> str:
    return join_words([f"{count} of the category {category}" for category, count in facts.concepts.items()])


def _chart(shares: Sequence[Counts], results: Results) -> dict[str, Any]:
    """Bars of the different concepts of each category, the models side by side."""
    values = [
        {"model": finding.model, "category": category, "unique": finding.facts.unique.get(category)}
        for finding in shares
        for category in _categories(shares)
    ]
    models = list(results.models)
    bars = {
        "x": nominal("category", None, labelAngle=0),
        "xOffset": {"field": "model", "type": "nominal", "sort": models},
        "y": quantitative("unique", "different concepts", {"tickMinStep": 1}),
        "color": by_name("model", models),
    }
    return chart(420, 200, values, layer("bar", bars))


def _pictures(shares: Sequence[Counts], results: Results) -> Iterator[Row | Group]:
    """A row per unit with its best images, the models below each other."""
    for finding in shares:
        stored = _stored_pictures(finding, results)
        best = [detector for detector in finding.facts.best if detector.unit in stored]
        if best and results.several:
            yield Group(finding.model, results.hue(finding.model))
        for detector in best:
            about = f"{detector.category}, IoU {detector.iou:.2f}, unit {detector.unit}"
            sources = [packed_address(content) for content in stored[detector.unit]]
            alt = f"{detector.concept}: an image that excites unit {detector.unit}"
            pictures = tuple(Picture(source, alt) for source in sources if source)
            yield Row(TableCell(detector.concept, note=about), pictures)


def _stored_pictures(finding: Counts, results: Results) -> dict[int, list[bytes]]:
    """The pictures of the units of a model's first run, by unit; none where they are not stored."""
    rows = survey_rows(results, finding.model, finding.facts.request, UnitPictures)
    return {row.unit: row.pictures for row in rows if row.pictures is not None}


def _most(rows: Sequence[Row | Group]) -> int:
    return max((len(row.cells) for row in rows if isinstance(row, Row)), default=1)


def concept_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """How many units detect how many concepts, most of which categories."""
    finding = next((finding for finding in _shares(results) if finding.model == model), None)
    if finding is None:
        return []
    facts = finding.facts
    unique = {category: count for category, count in facts.unique.items() if count}
    parts = join_words([f"{_number(count)} {category}" for category, count in unique.items()])
    what = f"{_number(sum(unique.values()))} different concepts ({parts})" if unique else "no concept"
    sentence = f"{percent(finding.value)} of the {facts.units:,} units of {facts.layer} detect {what}."
    return [("Concepts", sentence)]


CONCEPTS = Section(
    headline="detector_share",
    blocks=concept_blocks,
    verdict=concept_sentence,
    columns={"concepts": lambda finding: finding.name == "unique_concepts"},
    meanings=meanings("Detector"),
)
