"""Attention under occlusion: where the attention of the object's patches goes, by what hides the object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from snellen.audits.attention import AttentionFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.answers import survey_rows
from snellen.report.blocks import (
    Block,
    Chart,
    Details,
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
from snellen.report.charts import INK, by_name, chart, filled_points, interval_bars, layer, lines, nominal, share
from snellen.report.glossary import meanings
from snellen.report.pictures import packed_address
from snellen.report.results import Results
from snellen.report.sections.section import Section
from snellen.report.table import CLEAN
from snellen.report.words import UNKNOWN, interval, is_known, percent

Mass = StoredFinding[AttentionFacts]
REGIONS = {
    "visible": "visible object",
    "occluder": "occluder",
    "background": "background",
    "object": "object, hidden or not",
}
BEST = {"visible": "at most", "occluder": "at least"}


class LayerPictures(msgspec.Struct, frozen=True):
    """A row of a survey of attention: of an example the image as it is shown and under the attention at a layer; else None."""

    sample: str
    layer: str
    pictures: list[bytes] | None = None


def attention_blocks(results: Results) -> list[Block]:
    """Charts by region, the numbers of each model, and images with the attention drawn over them; nothing without this audit."""
    findings = results.having(AttentionFacts)
    if not findings:
        return []
    return [
        Heading("Attention under occlusion"),
        lead(
            "Patches that hold a pixel of the object ask; what they attend to is summed over heads and averaged over layers. The "
            "dashed line is what even attention would have: the region’s share of the image."
        ),
        FactLine(results.keys()),
        Panels(tuple(_charts(findings, results))),
        _table(findings, results),
        note(
            "Attention sees patches, not pixels: what a patch receives counts for its regions by their share of it. Where "
            "occluders are smaller than a patch, no attention can tell them from what they hide; the best that any attention "
            f"could reach is given beside each share. {_patches(findings)}"
        ),
        *_pictures(findings, results),
    ]


def _charts(findings: Sequence[Mass], results: Results) -> Iterator[Chart]:
    for region, words in REGIONS.items():
        points = [
            {
                "model": finding.model,
                "condition": _short(finding),
                "value": finding.value,
                "low": finding.low,
                "high": finding.high,
                "even": finding.facts.even,
            }
            for finding in findings
            if finding.facts.region == region and is_known(finding.value)
        ]
        if points:
            yield Chart(f"Attention on the {words}", _mass_chart(points, list(results.models)))


def _mass_chart(points: Sequence[Mapping[str, Any]], models: Sequence[str]) -> dict[str, Any]:
    """A point with its interval per model and condition, lines through them, and even attention dashed."""
    order = list(dict.fromkeys(point["condition"] for point in points))
    x, y = nominal("condition", order, labelAngle=-30), share("value", "share of attention")
    even = {"x": x, "y": {**y, "field": "even", "aggregate": "mean"}}
    at = {"x": x, "y": y, "color": by_name("model", models)}
    evenly = layer("line", even, strokeDash=[3, 3], color=INK, opacity=0.6)
    return chart(300, 200, points, evenly, lines(at), interval_bars(at), filled_points(at, 40, opacity=0.7))


def _is_clean(finding: Mass) -> bool:
    return list(finding.distortions) == [CLEAN]


def _short(finding: Mass) -> str:
    """A condition in a word or two, for an axis; lattices of several shares are told apart."""
    facts = finding.facts
    if facts.px is None or facts.share is None:
        return "clean" if _is_clean(finding) else facts.condition
    return f"{facts.px} px, {facts.share:.0%}"


def _table(findings: Sequence[Mass], results: Results) -> Table:
    rows: list[Row | Group] = []
    places = {(finding.model, finding.facts.condition, finding.facts.region): finding for finding in findings}
    for model in dict.fromkeys(finding.model for finding in findings):
        if results.several:
            rows.append(Group(model, results.hue(model)))
        for condition in dict.fromkeys(finding.facts.condition for finding in findings):
            own = {region: places.get((model, condition, region)) for region in REGIONS}
            reached = next((finding.facts.accuracy for finding in own.values() if finding is not None), None)
            shares = (_share(finding, region) for region, finding in own.items())
            rows.append(Row(TableCell(condition), (TableCell(percent(reached), reached), *shares)))
    return Table(heads("", "accuracy", *REGIONS.values()), tuple(rows), dense=True)


def _share(finding: Mass | None, region: str) -> TableCell:
    if finding is None or not is_known(finding.value):
        return TableCell(UNKNOWN)
    facts = finding.facts
    beside = f"even {percent(facts.even)}"
    if is_known(facts.best):
        beside += f", {BEST[region]} {percent(facts.best)}"
    layers = ", ".join(f"{name} {percent(value)}" for name, value in facts.layers.items() if is_known(value))
    ends = interval(finding.low, finding.high, "share")
    return TableCell(percent(finding.value), finding.value, ends, note=beside, title=layers)


def _patches(findings: Sequence[Mass]) -> str:
    """The sides of a patch of each model, where one knows them."""
    sides = {finding.model: finding.facts.patch for finding in reversed(findings)}
    texts = [f"{model}: {_sides(sides[model])}" for model in dict.fromkeys(finding.model for finding in findings)]
    return f"Pixels of a patch: {'; '.join(texts)}."


def _sides(patches: Sequence[Sequence[float]]) -> str:
    return ", ".join(dict.fromkeys(f"{height:g}×{width:g}" for height, width in patches))


def _pictures(findings: Sequence[Mass], results: Results) -> list[Block]:
    """An example after the other: a row per condition, the image as it is shown, then the attention at each layer."""
    blocks: list[Block] = []
    for model in dict.fromkeys(finding.model for finding in findings):
        own = [finding for finding in findings if finding.model == model and finding.facts.region == "visible"]
        stored = {finding.facts.condition: _stored(finding, results) for finding in own}
        layers = list(own[0].facts.layers) if own else []
        rows: list[Row | Group] = []
        for sample in own[0].facts.examples if own else ():
            some = [(condition, pictures[sample]) for condition, pictures in stored.items() if sample in pictures]
            rows += [Group(sample)] if some else []
            for condition, by_layer in some:
                shown = next(iter(by_layer.values()))[0]
                sources = [(shown, "as shown"), *((by_layer[name][1], f"attention at {name}") for name in layers)]
                cells = tuple(Picture(packed_address(content), f"{sample}, {alt}") for content, alt in sources)
                rows.append(Row(TableCell(condition), cells))
        if rows:
            words = f"Where the object’s patches attend to: {model}"
            gallery = Gallery(heads("", "as shown", *layers), tuple(rows), side=112)
            blocks.append(Details(words, (gallery,), open=not blocks))
    return blocks


def _stored(finding: Mass, results: Results) -> dict[str, dict[str, list[bytes]]]:
    """By sample and layer the pictures of a model's first run under a condition; none where they are not stored."""
    pictures: dict[str, dict[str, list[bytes]]] = {}
    for row in survey_rows(results, finding.model, finding.facts.request, LayerPictures):
        if row.pictures is not None:
            pictures.setdefault(row.sample, {})[row.layer] = row.pictures
    return pictures


def attention_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """What goes to the visible object where most and where least does, beside even attention."""
    findings = results.having(AttentionFacts)
    own = [
        finding
        for finding in findings
        if finding.model == model and finding.facts.region == "visible" and is_known(finding.value)
        and not _is_clean(finding)
    ]  # fmt: skip
    if not own:
        return []
    lift = sorted(own, key=lambda finding: (finding.value or 0.0) / max(finding.facts.even or 0.0, 1e-9))
    parts = [
        f"{percent(finding.value)} (even {percent(finding.facts.even)}) under {finding.facts.condition}"
        for finding in ([lift[-1], lift[0]] if len(lift) > 1 else lift)
    ]
    chosen = f", chosen as the highest and the lowest of {len(lift)} on these images" if len(lift) > 2 else ""
    gets = f"the visible object gets {' and '.join(parts)}{chosen}"
    return [("Attention", f"Of the attention of the object’s patches, {gets}.")]


ATTENTION = Section(
    headline="attention_visible",
    blocks=attention_blocks,
    verdict=attention_sentence,
    elsewhere=frozenset({"attention_background", "attention_object"}),
    meanings=meanings("Attention mass"),
)
