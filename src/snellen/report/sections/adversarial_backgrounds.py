"""Adversarial backgrounds: who can be fooled, by which backgrounds, and the published values beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from snellen.audits.adversarial_backgrounds import (
    MOST_CLASSES,
    TOP_CLASSES,
    AttackRateFacts,
    VulnerableFacts,
    WorstBackground,
    pictured_classes,
)
from snellen.audits.facts import UNSET, Number
from snellen.audits.stored_finding import StoredFinding
from snellen.models.label_maps.imagenet9 import plain_name
from snellen.report.answers import cell_rows
from snellen.report.blocks import (
    Answer,
    Block,
    Chart,
    Details,
    FactLine,
    Gallery,
    Heading,
    Line,
    Panels,
    Picture,
    Published,
    Row,
    Table,
    TableCell,
    heads,
    lead,
    note,
)
from snellen.report.glossary import meanings
from snellen.report.published import published, published_table
from snellen.report.results import Results
from snellen.report.sections.adversarial_charts import histogram_chart, shares_chart
from snellen.report.sections.background_published import PAPER, of_nine_classes
from snellen.report.sections.section import Section
from snellen.report.words import UNKNOWN, interval, is_known, percent

RULES = {"any": "any wrong answer counts", "background": "only the background's own class counts"}

Vulnerable = StoredFinding[VulnerableFacts]
AttackRate = StoredFinding[AttackRateFacts]


@dataclass(frozen=True)
class ClassTotal:
    """A published share of objects of other classes that some background of a class turns into it, and whose weights it is of."""

    name: str
    share: float
    note: str


def adversarial_blocks(results: Results) -> list[Block]:
    """Shares fooled, by class, the strongest backgrounds and the published values; nothing without this audit."""
    findings = results.having(VulnerableFacts)
    if not findings:
        return []
    shares = shares_of(findings)
    rates = [rate for rate in results.having(AttackRateFacts) if is_known(rate.value)]
    return [
        Heading("Adversarial backgrounds"),
        lead(
            "Every object was put on every background of the pool. An object counts as fooled if one background is enough, "
            "so this is a worst case: the share grows with the number of backgrounds, and only shares of the same pool can "
            "be compared. Beside it stands what a single background of any class does."
        ),
        _shares_table(shares, results),
        FactLine(results.keys()),
        Panels(tuple(_charts(shares, rates, results))),
        *(_worst_details(rate, results, place == 0) for place, rate in enumerate(rates)),
        _published_details(shares, bool(rates), results),
    ]


def shares_of(findings: Sequence[Vulnerable]) -> list[Vulnerable]:
    """The shares fooled; with and without rates the same is counted, so it is shown once."""
    known = [share for share in findings if is_known(share.value)]
    return list({(share.model, share.facts.rule, share.facts.backgrounds): share for share in known}.values())


def adversarial_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """How many objects some background fools the model on, and how many a single one does."""
    share = next((share for share in results.having(VulnerableFacts) if share.model == model), None)
    if share is None or not is_known(share.value):
        return []
    facts = share.facts
    fooled = "a wrong answer" if facts.rule == "any" else "the background's own class as the answer"
    sentence = (
        f"For {percent(share.value)} of the objects (95% interval {interval(share.low, share.high, 'share')}%) at least one "
        f"of {facts.backgrounds:,} backgrounds gives {fooled}"
    )
    if facts.rule == "any" and is_known(facts.wrong_on_one):
        sentence += f"; with a single background of any class it is wrong on {percent(facts.wrong_on_one)}"
    return [("Backgrounds", f"{sentence}.")]


def _shares_table(shares: Sequence[Vulnerable], results: Results) -> Table:
    head = heads("", "fooled by at least one", "95% interval", "wrong on one of any class", "of")
    rows = []
    for share in shares:
        cells = (
            TableCell(percent(share.value), share.value),
            TableCell(interval(share.low, share.high, "share")),
            TableCell(percent(share.facts.wrong_on_one), share.facts.wrong_on_one),
            TableCell(_extent(share), tone="soft"),
        )
        rows.append(Row(TableCell(share.model, hue=results.hue(share.model)), cells))
    return Table(head, tuple(rows))


def _extent(share: Vulnerable) -> str:
    """How many images were shown."""
    facts = share.facts
    text = f"{share.n:,} objects, {facts.backgrounds:,} backgrounds; {RULES[facts.rule]}. "
    text += f"Asked: {sum(facts.images):,} images"
    if least := sum(facts.least):
        text += f" (the fewest that any order needs: {least:,})"
    if facts.failed:
        text += f"; the model failed on {facts.failed} objects, which count nowhere"
    return text


def _charts(shares: Sequence[Vulnerable], rates: Sequence[AttackRate], results: Results) -> list[Chart]:
    models, charts = list(results.models), []
    first = {share.model: share for share in reversed(shares)}  # of several rules one alone
    by_class = [
        {"model": share.model, "class": name, "share": value}
        for share in reversed(first.values())
        for name, value in share.facts.by_class.items()
    ]
    if by_class:
        few, left = _highest(by_class)
        spec = shares_chart(few, models, "share fooled")
        charts.append(Chart("Objects that can be fooled, by their class", spec, left))
    if rates:
        rings: tuple[Line, ...] = (("rings: published, ResNet-50 trained on IN-9L by the authors",),)
        rate: Line = ("attack rate: of the objects of other classes, the share answered as the background's class",)
        few, left = _highest(_totals(results))
        charts += [
            Chart(
                "Objects of other classes that some background of the class turns into it",
                shares_chart(few, models, "share turned into it"),
                rings if _nine(results) else left,
            ),
            Chart("How strong the backgrounds are", histogram_chart(rates, models), (rate,)),
        ]
    return charts


def _highest(bars: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], tuple[Line, ...]]:
    """The bars, of very many classes those of the highest, and a line that says so."""
    highest: dict[str, float] = {}
    for bar in bars:
        highest[bar["class"]] = max(bar["share"], highest.get(bar["class"], 0.0))
    if len(highest) <= MOST_CLASSES:
        return list(bars), ()
    chosen = set(sorted(highest, key=lambda name: -highest[name])[:TOP_CLASSES])
    return [bar for bar in bars if bar["class"] in chosen], (
        (f"the {TOP_CLASSES} highest of {len(highest):,} classes",),
    )


def _totals(results: Results) -> list[dict[str, Any]]:
    """The totals by class, with the published ones where the classes are the same."""
    own = [
        {"model": rate.model, "class": name, "share": share}
        for rate in results.having(AttackRateFacts)
        for name, share in rate.facts.class_totals.items()
        if is_known(share)
    ]
    if not _nine(results):
        return own
    published = published_totals(results)
    return own + [
        {"class": total.name, "share": total.share, "note": total.note, "published": True} for total in published
    ]


def published_totals(results: Results) -> list[ClassTotal]:
    """The published totals by class, by the names of the data's own classes where these are the nine."""
    names = {plain_name(name): name for name in results.data["test"].classes} if _nine(results) else {}
    return [
        ClassTotal(names.get(value.row, value.row), value.value / 100, value.note)
        for value in published("xiao2021")
        if value.column == "class_total"
    ]


def _nine(results: Results) -> bool:
    return of_nine_classes(results.data["test"].classes)


def _worst_details(rate: AttackRate, results: Results, first: bool) -> Details:
    """The strongest backgrounds of each class as pictures."""
    facts = rate.facts
    shown = sorted({row.shown for row in cell_rows(results) if row.distortion == facts.trial})
    pictured = pictured_classes(facts)
    classes = {name: listed for name, listed in facts.worst.items() if listed and name in pictured}
    width = max(map(len, classes.values()), default=1)
    rows = [
        Row(
            TableCell(name),
            (
                TableCell(percent(facts.class_totals[name]), facts.class_totals[name]),
                *(_worst_picture(background, name, shown, results) for background in listed),
            ),
        )
        for name, listed in classes.items()
    ]
    gallery = Gallery(heads("class", "any of them", "the worst first", *[""] * (width - 1)), tuple(rows))
    every = len(classes) == sum(map(bool, facts.worst.values()))
    summary = (
        "The worst backgrounds of each class" if every else "The worst backgrounds of the classes with the strongest"
    )
    return Details(
        f"{summary}: {rate.model}" if results.several else summary,
        (
            note(
                "Under each the share of objects of other classes that it turns into its own class. They are the worst of "
                f"{facts.backgrounds:,}, {_chosen_on(facts)}"
            ),
            gallery,
        ),
        open=first,
    )


def _chosen_on(facts: AttackRateFacts) -> str:
    """On which objects the worst were chosen, and of which their rates are; runs of before halves have all."""
    if facts.chosen is not UNSET and not facts.chosen:
        return f"chosen on one half of the objects; the rates are of the other {facts.stated:,}, on which they were not chosen."
    return "chosen on these very objects, so part of their rate is chance: on new objects it is lower."


def _worst_picture(background: WorstBackground, name: str, shown: Sequence[str], results: Results) -> Picture:
    """The thumbnail of a background, which models with one canvas share, and its rate."""
    sources = (results.thumbnail(key, background.place) for key in shown)
    source = next((source for source in sources if source), None)
    return Picture(source, f"background of class {name}", (Answer(percent(background.rate)),))


def _published_details(shares: Sequence[Vulnerable], rates: bool, results: Results) -> Details:
    own = [
        Row(
            TableCell(share.model, note=f"this run, {share.facts.backgrounds:,} backgrounds"),
            (_number(None if share.value is None else 100 * share.value), TableCell("")),
            strong=True,
        )
        for share in shares
        if share.facts.rule == "any"
    ]
    printed = [
        Row(
            TableCell(name, note="table 6"),
            (_number(values["vulnerable"].value), TableCell(values["vulnerable"].note, tone="soft")),
        )
        for name, values in published_table("xiao2021", "6").items()
    ]
    tables = [Table(heads("", "fooled by at least one, %", "weights"), (*own, *printed))]
    if rates:
        totals = [
            Row(TableCell(total.name), (_number(100 * total.share), TableCell(total.note, tone="soft")))
            for total in published_totals(results)
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


def _number(value: Number) -> TableCell:
    return TableCell(UNKNOWN if value is None else f"{value:.1f}", value)


ADVERSARIAL_BACKGROUNDS = Section(
    headline="vulnerable",
    blocks=adversarial_blocks,
    verdict=adversarial_sentence,
    meanings=meanings("Fooled object", "Attack rate"),
)
