"""Occlusion: how accuracy falls as a square grows, the gap that iOcclusion measures, and from which size on it is halved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.blocks import Block, Chart, Details, Facts, Heading, Line, Panels, Span, Table, lead
from snellen.report.charts import curve_chart
from snellen.report.results import Finding, Results
from snellen.report.sections.iocclusion import iocclusion_blocks
from snellen.report.sections.section import Section
from snellen.report.table import di_badge, model_heads, row_of, table_row, trust_of
from snellen.report.words import covering, is_known, join_words, percent

AUDIT, SINGLE, MEAN = "occlusion", "occluded_accuracy", "cut_occlusion"
MARKS: tuple[Line, ...] = (("● no mark",), ("△ DI above chance only",))


def occlusion_blocks(results: Results) -> list[Block]:
    """The curves of accuracy under a square with the numbers behind them, and those of iOcclusion."""
    return [*curve_blocks(results), *iocclusion_blocks(results)]


def curve_blocks(results: Results) -> list[Block]:
    """Accuracy against the covered share, a panel per fill and dataset."""
    panels = curves_of(results)
    if not panels:
        return []
    flagged: Line = (Span("▲ DI clearly above chance and mild noise: may be an artefact", "flag"),)
    charts = [
        Chart(
            panel["under"] if panel["on"] == "test" else f"{panel['under']}, {panel['on']} images",
            curve_chart(panel, list(results.models)),
        )
        for panel in panels
    ]
    return [
        Heading("Accuracy under a square"),
        lead(
            "How accuracy falls as one square covers more of each image. The band is the 95% interval, the dashed line is chance."
        ),
        Facts((*results.keys(), *MARKS, flagged)),
        Panels(tuple(charts)),
        Details("The numbers behind the curves", (numbers_table(results),)),
    ]


def curves_of(results: Results) -> list[dict[str, Any]]:
    """One panel per fill and dataset: the points of each model, the clean accuracy at 0."""
    panels: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for one in results.of_audit(AUDIT):
        if one["name"] == SINGLE and is_known(one["value"]) and is_known(one["facts"]["covered"]):
            lines = panels.setdefault((one["on"], one["facts"]["fill"]), {})
            lines.setdefault(one["model"], []).append(_point(one, one["facts"]["covered"]))
    for (on, _), lines in panels.items():
        for model, points in lines.items():
            clean = results.clean(model, on)
            if clean is not None and is_known(clean["value"]):
                points.insert(0, _point(clean, 0.0))
    return [
        {
            "on": on,
            "fill": fill,
            "under": covering(fill),
            "chance": results.chance(on),
            "lines": [{"model": model, "points": points} for model, points in lines.items()],
        }
        for (on, fill), lines in panels.items()
    ]


def numbers_table(results: Results) -> Table:
    """The findings of single sizes, which the curves draw."""
    questions: dict[tuple[str, ...], dict[str, Finding]] = {}
    for one in results.of_audit(AUDIT):
        if one["name"] == SINGLE:
            questions.setdefault((one["on"], *one["distortions"]), {})[one["model"]] = one
    rows = [table_row(row_of(findings, results), results, di_badge) for findings in questions.values()]
    return Table(model_heads(results), tuple(rows))


def _point(finding: Mapping[str, Any], covered: float) -> dict[str, Any]:
    ends = {name: finding[name] for name in ("value", "low", "high")}
    return {"covered": covered, **ends, "trust": trust_of(finding)}


def occlusion_sentences(results: Results, model: str) -> list[tuple[str, str]]:
    """How far accuracy falls under squares and cut-outs, from which size on it is halved, and what the fill alone does."""
    own = [one for one in results.of_audit(AUDIT) if one["model"] == model]
    means = [one for one in own if one["name"] == MEAN and is_known(one["value"])]
    squares = [one for one in means if one["facts"]["fill"] != "cutout"]
    sentences = []
    if squares:
        each = join_words([f"{percent(one['value'])} with {one['facts']['fill']} ones" for one in squares])
        halved = _halved(results.clean(model), own, [one["facts"]["fill"] for one in squares])
        sentences.append(f"Under one square, averaged over its sizes, it is right on {each}.{halved}")
    sentences += [
        f"Under one of your cut-outs, averaged over its sizes, it is right on {percent(one['value'])}."
        for one in means
        if one not in squares
    ]
    for one in own:
        if one["name"] == "fill_gap" and one["low"] is not None and (one["low"] > 0 or one["high"] < 0):
            fill, other = one["facts"]["fill"], one["facts"]["other"]
            sentences.append(
                f"The fill alone, hiding the very same pixels, moves this by {100 * abs(one['value']):.1f} points "
                f"({fill if one['value'] < 0 else other} is worse)."
            )
    return [("What breaks it", sentence) for sentence in sentences]


def _halved(clean: Finding | None, own: Sequence[Finding], fills: Sequence[str]) -> str:
    """From which covered share on less than half of the clean accuracy is left, per fill."""
    if clean is None or not clean["value"]:
        return ""
    halved, robust = [], []
    for fill in fills:
        sizes = [one for one in own if one["name"] == SINGLE and one["facts"]["fill"] == fill]
        low = [one["facts"]["covered"] for one in sizes if is_known(one["value"]) and one["value"] < clean["value"] / 2]
        if shares := [share for share in low if is_known(share)]:
            halved.append(f"{percent(min(shares), 0)} ({fill})")
        elif not low:
            robust.append(fill)
    sentence = (
        f" It falls below half of its clean accuracy once the square covers {join_words(halved)}." if halved else ""
    )
    return sentence + (
        f" At every size tried it keeps at least half of it under {join_words(robust)} squares." if robust else ""
    )


OCCLUSION = Section(
    blocks=occlusion_blocks,
    verdict=occlusion_sentences,
    columns={
        "covered": lambda one: one["name"] == MEAN,
        "iocclusion": lambda one: one["name"] == "mean_iocclusion",
    },
    elsewhere=frozenset({SINGLE}),
    meanings={
        "CutOcclusion": "Mean accuracy while one square inside the image grows. Higher is better, as far as the square only "
        "hides.",
        "Fill gap": "The same pixels hidden by another fill. Were hiding all that matters, it would be 0; what remains is the "
        "model reacting to the fill itself.",
    },
)
