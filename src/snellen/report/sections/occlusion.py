"""Occlusion: how accuracy falls as a square grows, the gap that iOcclusion measures, and from which size on it is halved."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.audits.occlusion import CutOcclusionFacts, FillGapFacts, SquareFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Block, Chart, Details, FactLine, Heading, Line, Panels, Span, Table, lead
from snellen.report.charts import CurvePanel, CurvePoint, curve_chart
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.iocclusion import iocclusion_blocks
from snellen.report.sections.section import Section
from snellen.report.table import di_badge, model_heads, row_of, table_row
from snellen.report.words import covering, is_known, join_words, percent

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
    charts = [Chart(panel.title, curve_chart(panel, list(results.models))) for panel in panels]
    return [
        Heading("Accuracy under a square"),
        lead(
            "How accuracy falls as one square covers more of each image. The band is the 95% interval, the dashed line is "
            f"{results.guess(*_squares(results, 'test')).line}."
        ),
        FactLine((*results.keys(), *MARKS, flagged)),
        Panels(tuple(charts)),
        Details("The numbers behind the curves", (numbers_table(results),)),
    ]


def curves_of(results: Results) -> list[CurvePanel]:
    """One panel per fill and dataset: the points of each model, the clean accuracy at 0."""
    panels: dict[tuple[str, str], dict[str, list[CurvePoint]]] = {}
    for finding in results.having(SquareFacts):
        if is_known(finding.value) and is_known(finding.facts.covered):
            points = panels.setdefault((finding.on, finding.facts.fill), {}).setdefault(finding.model, [])
            points += _points(finding, finding.facts.covered)
    for (on, _), lines in panels.items():
        for model, points in lines.items():
            points[:0] = _points(results.clean(model, on), 0.0)
    return [
        CurvePanel(
            covering(fill) + ("" if on == "test" else f", {on} images"),
            lines,
            results.guess(*_squares(results, on, fill)).level,
        )
        for (on, fill), lines in panels.items()
    ]


def _squares(results: Results, on: str, fill: str = "") -> list[AnyFinding]:
    """The findings that curves draw, of one dataset and one fill or all."""
    known = (finding for finding in results.having(SquareFacts) if is_known(finding.value) and finding.on == on)
    return [finding for finding in known if fill in ("", finding.facts.fill)]


def numbers_table(results: Results) -> Table:
    """The findings of single sizes, which the curves draw."""
    questions: dict[tuple[str, ...], dict[str, AnyFinding]] = {}
    for finding in results.having(SquareFacts):
        questions.setdefault((finding.on, *finding.distortions), {})[finding.model] = finding
    rows = [table_row(row_of(findings, results), results, di_badge) for findings in questions.values()]
    return Table(model_heads(results), tuple(rows))


def _points(finding: AnyFinding | None, covered: float) -> list[CurvePoint]:
    """A finding as a point of a curve; none where it is not known."""
    if finding is None or not is_known(finding.value):
        return []
    mark = finding.interference.mark if finding.interference else ""
    return [CurvePoint(covered, finding.value, finding.low, finding.high, mark)]


def occlusion_sentences(results: Results, model: str) -> list[tuple[str, str]]:
    """How far accuracy falls under squares and cut-outs, from which size on it is halved, and what the fill alone does."""
    means = [
        finding for finding in results.having(CutOcclusionFacts) if finding.model == model and is_known(finding.value)
    ]
    squares = [finding for finding in means if finding.facts.fill != "cutout"]
    sentences = []
    if squares:
        each = join_words([f"{percent(finding.value)} with {finding.facts.fill} ones" for finding in squares])
        sizes = [finding for finding in results.having(SquareFacts) if finding.model == model]
        halved = _halved(results.clean(model), sizes, [finding.facts.fill for finding in squares])
        sentences.append(f"Under one square, averaged over its sizes, it is right on {each}.{halved}")
    sentences += [
        f"Under one of your cut-outs, averaged over its sizes, it is right on {percent(finding.value)}."
        for finding in means
        if finding.facts.fill == "cutout"
    ]
    for gap in results.having(FillGapFacts):
        if gap.model == model and gap.value is not None and _is_clear(gap):
            worse = gap.facts.fill if gap.value < 0 else gap.facts.other
            sentences.append(
                f"The fill alone, hiding the very same pixels, moves this by {100 * abs(gap.value):.1f} points "
                f"({worse} is worse)."
            )
    return [("What breaks it", sentence) for sentence in sentences]


def _is_clear(gap: AnyFinding) -> bool:
    """Whether the interval of a difference leaves 0 out."""
    return gap.low is not None and gap.high is not None and (gap.low > 0 or gap.high < 0)


def _halved(clean: AnyFinding | None, sizes: Sequence[StoredFinding[SquareFacts]], fills: Sequence[str]) -> str:
    """From which share on less than half of the clean accuracy is left, per fill."""
    if clean is None or not clean.value:
        return ""
    halved, robust = [], []
    for fill in fills:
        known = [(size.value, size.facts) for size in sizes if size.facts.fill == fill and is_known(size.value)]
        if low := [facts.area for value, facts in known if value < clean.value / 2]:
            halved.append(f"{percent(min(low), 0)} ({fill})")  # as in the labels: the share that was asked for
        else:
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
        "covered": lambda finding: finding.name == "cut_occlusion",
        "iocclusion": lambda finding: finding.name == "mean_iocclusion",
    },
    elsewhere=frozenset({"occluded_accuracy"}),
    meanings={
        "CutOcclusion": "Mean accuracy while one square inside the image grows. Higher is better, as far as the square only "
        "hides.",
        "Fill gap": "The same pixels hidden by another fill. Were hiding all that matters, it would be 0; what remains is the "
        "model reacting to the fill itself.",
    },
)
