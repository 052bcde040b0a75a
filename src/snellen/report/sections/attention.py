"""Attention under occlusion: where the attention of the object's patches goes, by what hides the object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from snellen.report.blocks import (
    Block,
    Cell,
    Chart,
    Details,
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
from snellen.report.pictures import packed_address
from snellen.report.results import Finding, Results
from snellen.report.sections.attention_chart import mass_chart
from snellen.report.sections.section import Section
from snellen.report.survey_rows import survey_rows
from snellen.report.words import UNKNOWN, interval, is_known, percent

AUDIT = "attention"
REGIONS = {
    "visible": "visible object",
    "occluder": "occluder",
    "background": "background",
    "object": "object, hidden or not",
}
BEST = {"visible": "at most", "occluder": "at least"}


def attention_blocks(results: Results) -> list[Block]:
    """Charts by region, the numbers of each model, and images with the attention drawn over them; nothing without this audit."""
    findings = results.of_audit(AUDIT)
    if not findings:
        return []
    return [
        Heading("Attention under occlusion"),
        lead(
            "Patches that hold a pixel of the object ask; what they attend to is summed over heads and averaged over layers. The "
            "dashed line is what even attention would have: the region’s share of the image."
        ),
        Facts(results.keys()),
        Panels(tuple(_charts(findings, results))),
        _table(findings, results),
        note(
            "Attention sees patches, not pixels: what a patch receives counts for its regions by their share of it. Where "
            "occluders are smaller than a patch, no attention can tell them from what they hide; the best that any attention "
            f"could reach is given beside each share. {_patches(findings)}"
        ),
        *_pictures(findings, results),
    ]


def _conditions(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(one["facts"]["condition"] for one in findings))


def _of(findings: Sequence[Finding], condition: str, region: str) -> dict[str, Finding]:
    """By model, the finding of a condition and region."""
    return {
        one["model"]: one
        for one in findings
        if (one["facts"]["condition"], one["facts"]["region"]) == (condition, region)
    }


def _charts(findings: Sequence[Finding], results: Results) -> Iterator[Chart]:
    for region, words in REGIONS.items():
        points = [
            {"model": one["model"], "condition": _short(one["facts"]), **{key: one[key] for key in ("value", "low", "high")},
             "even": one["facts"]["even"]}
            for one in findings
            if one["facts"]["region"] == region and is_known(one["value"])
        ]  # fmt: skip
        if points:
            yield Chart(f"Attention on the {words}", mass_chart(points, list(results.models)))


def _short(facts: Mapping[str, Any]) -> str:
    """A condition in a word or two, for an axis; lattices of several shares are told apart."""
    if facts["px"] is None:
        return "clean" if facts["condition"] == "clean images" else str(facts["condition"])
    return f"{facts['px']} px, {facts['share']:.0%}"


def _table(findings: Sequence[Finding], results: Results) -> Table:
    rows: list[Row | Group] = []
    for model in dict.fromkeys(one["model"] for one in findings):
        if results.several:
            rows.append(Group(model, results.hue(model)))
        for condition in _conditions(findings):
            own = {region: _of(findings, condition, region).get(model) for region in REGIONS}
            first = next(one for one in own.values() if one is not None)
            reached = first["facts"]["accuracy"]
            cells = (Cell(percent(reached), reached), *(_share(own[region], region) for region in REGIONS))
            rows.append(Row(Cell(condition), cells))
    return Table(heads("", "accuracy", *REGIONS.values()), tuple(rows), dense=True)


def _share(one: Finding | None, region: str) -> Cell:
    if one is None or not is_known(one["value"]):
        return Cell(UNKNOWN)
    facts = one["facts"]
    beside = f"even {percent(facts['even'])}"
    if region in BEST and is_known(facts["best"]):
        beside += f", {BEST[region]} {percent(facts['best'])}"
    layers = ", ".join(f"{name} {percent(value)}" for name, value in facts["layers"].items() if is_known(value))
    return Cell(
        percent(one["value"]), one["value"], interval(one["low"], one["high"], "share"), note=beside, title=layers
    )


def _patches(findings: Sequence[Finding]) -> str:
    """The sides of a patch of each model, where one knows them."""
    sides: dict[str, list[list[float]]] = {}
    for one in findings:
        sides.setdefault(one["model"], one["facts"]["patch"])
    texts = [f"{model}: {_sides(patches)}" for model, patches in sides.items()]
    return f"Pixels of a patch: {'; '.join(texts)}."


def _sides(patches: Sequence[Sequence[float]]) -> str:
    return ", ".join(dict.fromkeys(f"{height:g}×{width:g}" for height, width in patches))


def _pictures(findings: Sequence[Finding], results: Results) -> list[Block]:
    """An example after the other: a row per condition, the image as it is shown, then the attention at each layer."""
    blocks: list[Block] = []
    for model in dict.fromkeys(one["model"] for one in findings):
        own = [one for one in findings if one["model"] == model and one["facts"]["region"] == "visible"]
        stored = {one["facts"]["condition"]: _stored(one, results) for one in own}
        layers = list(own[0]["facts"]["layers"]) if own else []
        rows: list[Row | Group] = []
        for sample in own[0]["facts"]["examples"] if own else ():
            some = [(condition, pictures[sample]) for condition, pictures in stored.items() if sample in pictures]
            rows += [Group(sample)] if some else []
            for condition, by_layer in some:
                shown = next(iter(by_layer.values()))[0]
                sources = [(shown, "as shown"), *((by_layer[name][1], f"attention at {name}") for name in layers)]
                cells = tuple(Picture(packed_address(content), f"{sample}, {alt}") for content, alt in sources)
                rows.append(Row(Cell(condition), cells))
        if rows:
            words = f"Where the object’s patches attend to: {model}"
            gallery = Gallery(heads("", "as shown", *layers), tuple(rows), side=112)
            blocks.append(Details(words, (gallery,), open=not blocks))
    return blocks


def _stored(one: Finding, results: Results) -> dict[str, dict[str, list[bytes]]]:
    """By sample and layer the pictures of a model's first run under a condition; none where they are not stored."""
    pictures: dict[str, dict[str, list[bytes]]] = {}
    for row in survey_rows(one, results):
        if row.get("pictures") is not None:
            pictures.setdefault(row["sample"], {})[row["layer"]] = list(row["pictures"])
    return pictures


def attention_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """What goes to the visible object where most and where least does, beside even attention."""
    findings = results.of_audit(AUDIT)
    own = [
        one
        for one in findings
        if one["model"] == model and one["facts"]["region"] == "visible" and is_known(one["value"])
        and one["facts"]["condition"] != "clean images"
    ]  # fmt: skip
    if not own:
        return []
    lift = sorted(own, key=lambda one: float(one["value"]) / max(float(one["facts"]["even"]), 1e-9))
    parts = [
        f"{percent(one['value'])} (even {percent(one['facts']['even'])}) under {one['facts']['condition']}"
        for one in ([lift[-1], lift[0]] if len(lift) > 1 else lift)
    ]
    return [("Attention", f"Of the attention of the object’s patches, the visible object gets {' and '.join(parts)}.")]


ATTENTION = Section(
    blocks=attention_blocks,
    verdict=attention_sentence,
    elsewhere=frozenset({"attention_background", "attention_object"}),
    meanings={
        "Attention mass": "The share of the attention of the object’s patches that goes to a region of the image, class tokens "
        "left out. Even attention has the region’s share of the image.",
    },
)
