"""People beside models under occluders: table 3 of Kassaw et al. 2024, and the gap by type and level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from snellen.audits.facts import UNSET
from snellen.audits.occluders.consistency import ErrorConsistencyFacts
from snellen.audits.occluders.people import (
    ALL,
    PEOPLE,
    ClickFacts,
    HumanAccuracyFacts,
    HumanGapFacts,
    PeopleFacts,
    TopPeopleFacts,
)
from snellen.audits.occluders.types import REAL
from snellen.audits.stored_finding import StoredFinding
from snellen.measure.occlusion_table import CLEAN
from snellen.report.blocks import Block, Details, Group, Heading, Published, Row, Table, TableCell, heads, note
from snellen.report.published import published_table
from snellen.report.results import AnyFinding
from snellen.report.sections.occluders.values import OccluderValues, accuracy_cell, known, levels_in
from snellen.report.words import UNKNOWN, count_of, interval, join_words, percent, points


def people_blocks(values: OccluderValues) -> list[Block]:
    """Who is better, by how much and on what; nothing without people."""
    who = values.results.having(PeopleFacts)
    if not who:
        return []
    return [
        Heading("People and models", 3),
        *_top(values),
        *_gaps(values),
        *_consistency(values),
        note(_who(who[0])),
        *_clicks(values),
    ]


def _top(values: OccluderValues) -> list[Block]:
    """Table 3: people and models at each level on the images that the best people saw."""
    best = values.results.having(TopPeopleFacts)
    if not best:
        return []
    levels, count = levels_in(finding.facts for finding in best), best[0].facts.observers
    everyone = tuple(accuracy_cell(values.at(PEOPLE, REAL, level)) for level in levels)
    name = "the best people" if count is UNSET else f"the best {count} people"
    rows = [
        Row(TableCell(PEOPLE, bold=True), everyone),
        Row(TableCell(name, bold=True), tuple(map(accuracy_cell, _by_level(best, levels)))),
    ]
    models = [finding for finding in values.results.having(HumanAccuracyFacts) if finding.name == "top_image_accuracy"]
    for model in dict.fromkeys(finding.model for finding in models):
        own = _by_level([finding for finding in models if finding.model == model], levels)
        rows.append(Row(values.model_cell(model), tuple(map(accuracy_cell, own))))
    head = heads("", *(f"{name} hidden" for name in levels.values()))
    return [Table(head, tuple(rows)), note("Models on the images that the best people saw; people on all of theirs.")]


def _by_level(findings: Sequence[AnyFinding], levels: Iterable[int]) -> list[AnyFinding | None]:
    by_level = {finding.facts.level: finding for finding in findings}
    return [by_level.get(level) for level in levels]


def _gaps(values: OccluderValues) -> list[Block]:
    """People less model, by type and level."""
    findings = [finding for finding in values.results.having(HumanGapFacts) if known(finding)]
    if not findings:
        return []
    models = list(dict.fromkeys(finding.model for finding in findings))
    hues = (TableCell(model, hue=values.results.own_hue(model)) for model in models)
    rows: list[Row | Group] = []
    wholes = {ALL: "all images", CLEAN: "unoccluded"}
    kinds = dict.fromkeys([*wholes, *(finding.facts.type for finding in findings)])
    for kind in kinds:
        own = [finding for finding in findings if finding.facts.type == kind]
        if own and kind not in wholes:
            rows.append(Group(f"{kind} occluders"))
        for level in sorted({_level(finding) for finding in own}):
            here = {finding.model: finding for finding in own if _level(finding) == level}
            first = next(iter(here.values()))
            name = wholes.get(kind) or f"{first.facts.level_name} hidden"
            head = TableCell(name, note=count_of(first.n, "image"))
            rows.append(
                Row(head, (TableCell(percent(first.facts.human)), *(_gap(here.get(model)) for model in models)))
            )
    table = Table((TableCell("people minus model"), TableCell("people"), *hues), tuple(rows), dense=True)
    return [table, _published()]


def _consistency(values: OccluderValues) -> list[Block]:
    """Who errs on the same images as whom: people and models, each with each, on all images that people saw."""
    findings = [finding for finding in values.results.having(ErrorConsistencyFacts) if finding.facts.type == ALL]
    if not findings:
        return []
    pairs = {frozenset((finding.model, finding.facts.other)): finding for finding in findings}
    everyone = list(dict.fromkeys([PEOPLE, *(finding.model for finding in findings)]))
    rows = []
    for who in everyone:
        cells = (pairs.get(frozenset((who, other))) for other in everyone)
        rows.append(Row(values.model_cell(who), tuple(map(_kappa, cells))))
    columns = (values.model_cell(who) for who in everyone)
    table = Table((TableCell("error consistency"), *columns), tuple(rows), dense=True)
    return [
        table,
        note(
            "Cohen's kappa of right and wrong on the images that people saw: 1 for the same errors, 0 for independent ones, "
            "whatever the accuracies. People with people is their mean with each other."
        ),
    ]


def _kappa(finding: StoredFinding[ErrorConsistencyFacts] | None) -> TableCell:
    if finding is None:
        return TableCell("")
    if finding.value is None:
        return TableCell(UNKNOWN, title=finding.facts.reason)
    return TableCell(
        f"{finding.value:.2f}".replace("-", "−"), finding.value, interval(finding.low, finding.high, "index")
    )


def _published() -> Details:
    """The gaps that Kassaw et al. (2024) state, folded."""
    gaps = {
        name: gap
        for name, row in published_table("kassaw2024", "6.3").items()
        for gap in row.values()
        if gap.unit == "points"
    }
    rows = tuple(Row(TableCell(name), (TableCell(f"about {gap.value:g}", gap.value),)) for name, gap in gaps.items())
    text = (
        "people minus Swin-B with MixUp, in points, on 552 images of 23 classes; level 1 is less than half hidden, level 2 half "
        "or more. Other images and other people: a size to compare with, not a goal."
    )
    shown = Table(heads("", "people minus model"), rows, dense=True)
    return Details("Published values", (Published("Kassaw et al. 2024", False, text, (shown,)),))


def _level(finding: StoredFinding[HumanGapFacts]) -> int:
    return 0 if finding.facts.level is UNSET else finding.facts.level


def _gap(finding: AnyFinding | None) -> TableCell:
    if finding is None:
        return TableCell(UNKNOWN)
    low, high = finding.low, finding.high
    sure = low is not None and high is not None and (low > 0 or high < 0)
    return TableCell(points(finding.value), finding.value, interval(low, high, "difference"), bold=sure)


def _who(finding: StoredFinding[PeopleFacts]) -> str:
    """How many people there were, and who was left out."""
    facts = finding.facts
    if facts.outliers is UNSET or facts.answers is UNSET or facts.observers is UNSET:
        return f"People cannot be compared with each other: {finding.text}. All answers count."
    left = (
        f"left out as a low outlier by Tukey's rule: {join_words(facts.outliers)}"
        if facts.outliers
        else "none is a low outlier by Tukey's rule"
    )
    return (
        f"{count_of(facts.answers, 'answer')} of {count_of(facts.observers, 'observer')}; {left}. Intervals are a "
        "bootstrap over people and images."
    )


def _clicks(values: OccluderValues) -> list[Block]:
    """Clicks beside the object, by level."""
    findings = values.results.having(ClickFacts)
    if not findings:
        return []
    rows = []
    for finding in findings:
        name = finding.facts.level_name
        rows.append(Row(TableCell("all levels" if name is UNSET else name), (accuracy_cell(finding),)))
    return [Table(heads("hidden", "clicks beside the object"), tuple(rows))]
