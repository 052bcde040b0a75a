"""Adversarial backgrounds: who can be fooled, by which backgrounds, and the published values beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.models.label_maps.imagenet9 import plain_name
from snellen.report.answers import cell_rows
from snellen.report.blocks import (
    Answer,
    Block,
    Cell,
    Chart,
    Details,
    Facts,
    Gallery,
    Heading,
    Line,
    Panels,
    Picture,
    Published,
    Row,
    Table,
    heads,
    lead,
    note,
)
from snellen.report.published import published, published_table
from snellen.report.results import Finding, Results
from snellen.report.sections.adversarial_charts import histogram_chart, shares_chart
from snellen.report.sections.background_published import PAPER, of_nine_classes
from snellen.report.sections.section import Section
from snellen.report.words import UNKNOWN, interval, is_known, percent

AUDIT = "adversarial_backgrounds"
RULES = {"any": "any wrong answer counts", "background": "only the background's own class counts"}


def adversarial_blocks(results: Results) -> list[Block]:
    """Shares fooled, by class, the strongest backgrounds and the published values; nothing without this audit."""
    findings = results.of_audit(AUDIT)
    if not findings:
        return []
    shares = shares_of(findings)
    rates = [one for one in findings if one["name"] == "attack_rate" and is_known(one["value"])]
    return [
        Heading("Adversarial backgrounds"),
        lead(
            "Every object was put on every background of the pool. An object counts as fooled if one background is enough, "
            "so this is a worst case: the share grows with the number of backgrounds, and only shares of the same pool can "
            "be compared. Beside it stands what a single background of any class does."
        ),
        _shares_table(shares, results),
        Facts(results.keys()),
        Panels(tuple(_charts(shares, rates, results))),
        *(_worst_details(one, results, place == 0) for place, one in enumerate(rates)),
        _published_details(shares, bool(rates), results),
    ]


def shares_of(findings: Sequence[Finding]) -> list[Finding]:
    """The shares fooled; with and without rates the same is counted, so it is shown once."""
    known_shares = [one for one in findings if one["name"] == "vulnerable" and is_known(one["value"])]
    keys = [(one["model"], one["facts"]["rule"], one["facts"]["backgrounds"]) for one in known_shares]
    return list(dict(zip(keys, known_shares)).values())


def adversarial_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """How many objects some background fools the model on, and how many a single one does."""
    own = (one for one in results.of_audit(AUDIT) if one["model"] == model and one["name"] == "vulnerable")
    one = next(own, None)
    if one is None or not is_known(one["value"]):
        return []
    facts = one["facts"]
    fooled = "a wrong answer" if facts["rule"] == "any" else "the background's own class as the answer"
    sentence = (
        f"For {percent(one['value'])} of the objects (95% interval {interval(one['low'], one['high'], 'share')}%) at least one "
        f"of {facts['backgrounds']:,} backgrounds gives {fooled}"
    )
    if facts["rule"] == "any" and is_known(facts["wrong_on_one"]):
        sentence += f"; with a single background of any class it is wrong on {percent(facts['wrong_on_one'])}"
    return [("Backgrounds", f"{sentence}.")]


def _shares_table(shares: Sequence[Finding], results: Results) -> Table:
    head = heads("", "fooled by at least one", "95% interval", "wrong on one of any class", "of")
    rows = []
    for one in shares:
        single = one["facts"]["wrong_on_one"]
        cells = (
            Cell(percent(one["value"]), one["value"]),
            Cell(interval(one["low"], one["high"], "share")),
            Cell(percent(single), single),
            Cell(_extent(one), tone="soft"),
        )
        rows.append(Row(Cell(one["model"], hue=results.hue(one["model"])), cells))
    return Table(head, tuple(rows))


def _extent(one: Finding) -> str:
    """How many images were shown."""
    facts = one["facts"]
    text = f"{one['n']:,} objects, {facts['backgrounds']:,} backgrounds; {RULES[facts['rule']]}. "
    text += f"Asked: {sum(facts['asked']):,} images"
    if least := sum(facts["least"]):
        text += f" (the fewest that any order needs: {least:,})"
    if facts["failed"]:
        text += f"; the model failed on {facts['failed']} objects, which count nowhere"
    return text


def _charts(shares: Sequence[Finding], rates: Sequence[Finding], results: Results) -> list[Chart]:
    models, charts = list(results.models), []
    first = {one["model"]: one for one in reversed(shares)}  # of several rules one alone
    by_class = [
        {"model": one["model"], "class": name, "share": share}
        for one in reversed(first.values())
        for name, share in one["facts"]["by_class"].items()
    ]
    if by_class:
        spec = shares_chart(by_class, models, "share fooled")
        charts.append(Chart("Objects that can be fooled, by their class", spec))
    if rates:
        rings: tuple[Line, ...] = (("rings: published, ResNet-50 trained on IN-9L by the authors",),)
        strengths = [
            {"histogram": [{"model": one["model"], **bin} for bin in one["facts"]["histogram"]]} for one in rates
        ]
        rate: Line = ("attack rate: of the objects of other classes, the share answered as the background's class",)
        charts += [
            Chart(
                "Objects of other classes that some background of the class turns into it",
                shares_chart(_totals(results), models, "share turned into it"),
                rings if _nine(results) else (),
            ),
            Chart("How strong the backgrounds are", histogram_chart(strengths, models), (rate,)),
        ]
    return charts


def _totals(results: Results) -> list[dict[str, Any]]:
    """The totals by class, with the published ones where the classes are the same."""
    own = [
        {"model": one["model"], "class": name, "share": share}
        for one in results.of_audit(AUDIT)
        if one["name"] == "attack_rate"
        for name, share in one["facts"]["class_totals"].items()
        if is_known(share)
    ]
    return [*own, *({**row, "published": True} for row in published_totals(results) if _nine(results))]


def published_totals(results: Results) -> list[dict[str, Any]]:
    """The published totals by class, by the names of the data's own classes where these are the nine."""
    names = {plain_name(name): name for name in results.data["test"]["classes"]} if _nine(results) else {}
    return [
        {"class": names.get(one.row, one.row), "share": one.value / 100, "note": one.note}
        for one in published("004")
        if one.column == "class_total"
    ]


def _nine(results: Results) -> bool:
    return of_nine_classes(results.data["test"]["classes"])


def _worst_details(one: Finding, results: Results, first: bool) -> Details:
    """The strongest backgrounds of each class as pictures."""
    facts = one["facts"]
    shown = sorted({row["shown"] for row in cell_rows(results) if row["distortion"] == facts["trial"]})
    classes = {name: listed for name, listed in facts["worst"].items() if listed}
    width = max(map(len, classes.values()), default=1)
    rows = [
        Row(
            Cell(name),
            (
                Cell(percent(facts["class_totals"][name]), facts["class_totals"][name]),
                *(_worst_picture(background, name, shown, results) for background in listed),
            ),
        )
        for name, listed in classes.items()
    ]
    gallery = Gallery(heads("class", "any of them", "the worst first", *[""] * (width - 1)), tuple(rows))
    summary = "The worst backgrounds of each class"
    return Details(
        f"{summary}: {one['model']}" if results.several else summary,
        (
            note(
                "Under each the share of objects of other classes that it turns into its own class. They are the worst of "
                f"{facts['backgrounds']:,}, so part of their rate is chance: on new objects it is lower."
            ),
            gallery,
        ),
        open=first,
    )


def _worst_picture(background: Mapping[str, Any], name: str, shown: Sequence[str], results: Results) -> Picture:
    """The thumbnail of a background, which models with one canvas share, and its rate."""
    sources = (results.thumbnail(key, background["place"]) for key in shown)
    source = next((one for one in sources if one), None)
    return Picture(source, f"background of class {name}", (Answer(percent(background["rate"])),))


def _published_details(shares: Sequence[Finding], rates: bool, results: Results) -> Details:
    own = [
        Row(
            Cell(one["model"], note=f"this run, {one['facts']['backgrounds']:,} backgrounds"),
            (Cell(f"{100 * one['value']:.1f}", 100 * one["value"]), Cell("")),
            strong=True,
        )
        for one in shares
        if one["facts"]["rule"] == "any"
    ]
    printed = [
        Row(Cell(name, note="table 6"), (_number(one["vulnerable"].value), Cell(one["vulnerable"].note, tone="soft")))
        for name, one in published_table("004", "6").items()
    ]
    tables = [Table(heads("", "fooled by at least one, %", "weights"), (*own, *printed))]
    if rates:
        totals = [
            Row(Cell(one["class"]), (_number(100 * one["share"]), Cell(one["note"], tone="soft")))
            for one in published_totals(results)
        ]
        tables.append(Table(heads("class", "total, published, %", "weights"), tuple(totals)))
    same = _nine(results)
    text = (
        "The same nine classes. Published are 4,050 backgrounds and any wrong answer; compare only with the same weights and "
        "as many backgrounds."
        if same
        else "the published values are of ImageNet-9 with 4,050 backgrounds, any wrong answer counted."
    )
    return Details("Beside the published values", (Published(PAPER, same, text, tuple(tables)),))


def _number(value: float | None) -> Cell:
    return Cell(UNKNOWN if value is None else f"{value:.1f}", value)


ADVERSARIAL_BACKGROUNDS = Section(blocks=adversarial_blocks, verdict=adversarial_sentence)
