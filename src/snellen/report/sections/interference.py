"""Interference: where the errors go, DI per distortion beside mild noise and chance, and along a setting that varies."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.audits.interference import InterferenceFacts
from snellen.audits.trust import InterferenceNulls, NullFacts
from snellen.report.blocks import (
    Badge,
    Block,
    Chart,
    Details,
    FactLine,
    Group,
    Heading,
    Line,
    Panels,
    Row,
    Span,
    Table,
    TableCell,
    code,
    heads,
    lead,
    note,
)
from snellen.report.glossary import about_di, meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.interference_charts import bar_chart, bar_ends, highest, index_chart, sweep_chart
from snellen.report.sections.interference_values import (
    ClassBars,
    DistortionBars,
    IndexFinding,
    ModelIndices,
    SettingSweep,
    bars_of,
    dominant_class,
    indices_of,
    published_index,
    sweeps_of,
)
from snellen.report.sections.published_marcu import published_by_marcu
from snellen.report.sections.section import SPREAD_FROM, Section
from snellen.report.sections.shape import shuffled
from snellen.report.table import di_badge
from snellen.report.words import UNKNOWN, in_words, index, is_known, percent

MOST_BARS = 60  # charts of changes by class
TWO_CLASSES = "two classes: no dominant class can be shown"


def interference_blocks(results: Results) -> list[Block]:
    """The DI of every distortion, what chance gives, and the change in errors by class; nothing without this audit."""
    groups = bars_of(results)
    if not groups:
        return []
    return [Heading("Where the errors go"), *_index_blocks(results), *_bar_blocks(groups, results)]


def _index_blocks(results: Results) -> list[Block]:
    models, sweeps = indices_of(results), sweeps_of(results)
    if not models:
        return []
    worst = ", the tick the worst case: the dominant class's highest rise in any run" if results.repeated else ""
    end = highest(models)
    charts = [
        *(_index_panel(model, end, results) for model in models if model.findings),
        *(_sweep_panel(sweep, results) for sweep in sweeps),
    ]
    return [
        lead(
            f"{about_di()} A bar for each distortion, with the class that takes them. The dashed line is the DI of mild "
            "noise: what is clearly above it (and chance) is coloured. The thin line is the 95% interval" + worst + "."
        ),
        *([FactLine(results.keys())] if sweeps and results.several else []),
        Panels(tuple(charts)),
        Details("Chance, worst case and spread", (_chance_table(models, results), note(CHANCE))),
    ]


CHANCE = (
    "As published is the point estimate of Marcu & Prügel-Bennett (2022), equation 1; ± is its spread over runs. The bars show "
    "an estimate that undoes what chance adds to it. In the worst case per run each run may have a class of its own. Each "
    "chance: how often it reaches the DI as published (p, of 1,000 draws), what it gives with the clean errors kept as they are, "
    "and what it gives as if there were no clean errors, as in the paper. A single run cannot be told from the second kind."
)


def _index_panel(model: ModelIndices, end: float, results: Results) -> Chart:
    caption: list[Line] = []
    if model.noise:
        dominant = f", dominant class {name}" if (name := dominant_class(model.noise)) else ""
        caption.append((f"mild noise: DI {index(model.noise.value)}{dominant}",))
    if model.classes < 3:
        caption.append((TWO_CLASSES,))
    return Chart(model.model, index_chart(model, end), tuple(caption), results.own_hue(model.model))


def _sweep_panel(sweep: SettingSweep, results: Results) -> Chart:
    fixed: tuple[Line, ...] = ((code(sweep.fixed),),) if sweep.fixed else ()
    title = f"DI along {sweep.setting} of {sweep.family}"
    return Chart(title, sweep_chart(sweep, list(results.models)), fixed)


def _chance_table(models: Sequence[ModelIndices], results: Results) -> Table:
    rows: list[Row | Group] = []
    for model in models:
        rows += [Group(model.model)] if results.several else []
        rows += [_chance_row(finding) for finding in model.every]
    head = heads(
        "",
        "DI as published",
        "worst case",
        "worst per run",
        "errors at random",
        "all errors of a run on one random class",
    )
    return Table(head, tuple(rows))


def _chance_row(finding: IndexFinding) -> Row:
    facts, nulls = finding.facts, finding.facts.nulls
    pairs = (
        (published_index(finding), facts.std),
        (facts.worst_case, facts.worst_case_std),
        (facts.per_run_worst, facts.per_run_worst_std),
    )
    cells = [TableCell(index(value) + (f" ± {index(std)}" if std is not None else ""), value) for value, std in pairs]
    return Row(TableCell(in_words(finding.distortions[0])), (*cells, *_chance_cells(nulls)))


def _chance_cells(nulls: InterferenceNulls | None) -> tuple[TableCell, TableCell]:
    """The two kinds of chance; dashes where an earlier run did not measure them."""
    if nulls is None:
        return TableCell(UNKNOWN), TableCell(UNKNOWN)
    return (
        _chance_cell(nulls.uniform, nulls.uniform_without_clean_errors),
        _chance_cell(nulls.one, nulls.one_without_clean_errors),
    )


def _chance_cell(null: NullFacts, alone: NullFacts) -> TableCell:
    if null.p is None:
        return TableCell(UNKNOWN)
    expected, without = (f"{index(chance.mean)} ± {index(chance.std)}" for chance in (null, alone))
    return TableCell(f"p {null.p:.3f}", null.p, badge=Badge(f"{expected}; without clean errors {without}"))


def _bar_blocks(groups: Sequence[DistortionBars], results: Results) -> list[Block]:
    blocks: list[Block] = [
        lead(
            "Change in the share of wrong answers per predicted class, distorted minus clean, in percentage points. One long "
            "bar suggests that the distortion itself looks like that class; short bars on many classes, that it rather "
            "hides or confuses. The dashed line is the most that a class gains under mild noise. "
            + ("Whiskers span the runs." if results.repeated else "One run: no spread over runs.")
        )
    ]
    groups, every = _strongest(groups), len(groups)
    if len(groups) < every:
        blocks.append(note(f"Of {every} distortions the {len(groups)} of the highest DI are drawn."))
    if not results.several:
        charts = [
            _bar_panel(chart, group, group.words, (code(group.distortion),), "")
            for group in groups
            for chart in group.charts
        ]
        return [*blocks, Panels(tuple(charts), "small")]
    for group in groups:
        panels = [_bar_panel(chart, group, chart.model, (), results.hue(chart.model)) for chart in group.charts]
        blocks += [Heading(group.words, 3, group.distortion), Panels(tuple(panels), "small")]
    return blocks


def _strongest(groups: Sequence[DistortionBars]) -> list[DistortionBars]:
    """The groups that are drawn: all, or of very many charts those of the highest DI, in their order."""
    charts = max(1, max(len(group.charts) for group in groups))
    highest = sorted(groups, key=lambda group: -max((_index(chart) for chart in group.charts), default=0.0))
    chosen = highest[: max(1, MOST_BARS // charts)]
    return [group for group in groups if group in chosen]


def _index(chart: ClassBars) -> float:
    return (chart.interference.index if chart.interference else None) or 0.0


def _bar_panel(chart: ClassBars, group: DistortionBars, title: str, detail: Line, hue: str) -> Chart:
    caption: list[Line] = [detail] if detail else []
    if trust := chart.interference:
        few = chart.classes < 3
        dominant = "no dominant class can be shown" if few else f"dominant class {trust.dominant or UNKNOWN}"
        text = f"DI {index(trust.index)}, {dominant} {trust.sign}".rstrip()
        caption.append((Span(text, "flag" if trust.mark == "flagged" else "", trust.text),))
    if chart.bars and len(chart.bars) < chart.classes:
        caption.append((f"the {len(chart.bars)} largest of {chart.classes} classes",))
    if not any(bar.mean for bar in chart.bars):
        return Chart(title, {}, tuple(caption), hue, below=(note("no change in any class"),))
    return Chart(title, bar_chart(chart, bar_ends(group.charts)), tuple(caption), hue)


def hardest_sentence(results: Results, model: str) -> list[tuple[str, str]]:
    """Under which of the distortions accuracy is lowest; of several it is chosen, which the sentence says."""
    own = (finding for finding in results.of_audit("interference") if finding.model == model)
    accuracies = [
        (finding.value, finding.distortions[0])
        for finding in own
        if finding.name == "distorted_accuracy" and is_known(finding.value)
    ]
    if not accuracies:
        return []
    value, distortion = min(accuracies, key=lambda pair: pair[0])
    chosen = f", chosen as the lowest of {len(accuracies)} on these images" if len(accuracies) > 1 else ""
    sentence = f"Of the single distortions the hardest is: {in_words(distortion)} ({percent(value)}{chosen})."
    return [("What breaks it", sentence)]


def highest_headline(results: Results) -> Line:
    """The distortion of the highest DI of each model, mild noise left out; of many models the lowest and the highest of these."""
    worst = [
        max(model.findings, key=lambda finding: finding.value or 0.0) for model in indices_of(results) if model.findings
    ]
    spread = len(worst) >= SPREAD_FROM
    if spread:
        ordered = sorted(worst, key=lambda finding: finding.value or 0.0)
        worst = [ordered[0], ordered[-1]]
    line: list[str | Span] = []
    for finding in worst:
        trust = finding.interference
        taken = f", taken for {trust.taken_for}" if trust and trust.mark == "flagged" else ""
        words = f" under {in_words(finding.distortions[0])}{taken}"
        between = (" to " if spread else "; ") if line else "from " if spread else ""
        line += [between, Span(f"{finding.model} ", hue=results.own_hue(finding.model))]
        line += [Span(index(finding.value), "bold"), words]
    return ("Highest DI: ", *line) if line else ()


def index_badge(finding: AnyFinding) -> Badge | None:
    """At a DI the class that takes the new errors and what chance gives; at an accuracy the DI of its distortion."""
    trust = finding.interference
    if not isinstance(finding.facts, InterferenceFacts) or trust is None:
        return di_badge(finding)
    unshown = trust.null95 is None and trust.index is not None
    beside = TWO_CLASSES if unshown else f"by chance up to {index(trust.null95)}"
    return Badge(f"{trust.dominant or UNKNOWN} {trust.sign}".rstrip(), trust.mark == "flagged", trust.text, beside)


INTERFERENCE = Section(
    blocks=interference_blocks,
    headline=highest_headline,
    verdict=hardest_sentence,
    columns={"shuffled": lambda finding: shuffled("distorted_accuracy", finding)},
    losses=lambda finding: finding.name == "distorted_accuracy",
    last=frozenset({"interference"}),  # accuracies first, then their DI
    badge=index_badge,
    meanings=meanings("DI", "DI as published", "By chance", "Mild noise"),
    published=published_by_marcu(
        "interference",
        {
            "1": "DI under 4×4 shuffled patches (Fashion-MNIST 2×2), PreAct-ResNet18, mean ± deviation of 5 runs",
            "3": "DI under a square of 70 to 100% of the image that may leave it, the same networks",
            "12": "DI under masks of Fourier space, the same networks",
        },
    ),
)
