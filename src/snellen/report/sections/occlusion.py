"""Occlusion: how accuracy falls as a square grows, the gap that iOcclusion measures, and from which size on it is halved."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import hypot

from snellen.audits.occlusion import CutOcclusionFacts, FillGapFacts, SquareFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Block, Chart, Details, FactLine, Heading, Line, Panels, Span, Table, lead
from snellen.report.charts import CurvePanel, CurvePoint, curve_chart
from snellen.report.glossary import meanings
from snellen.report.results import AnyFinding, Results
from snellen.report.sections.iocclusion import iocclusion_blocks
from snellen.report.sections.published_marcu import published_by_marcu
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
    """From which share on clearly less than half of the clean accuracy is left, per fill, and where clearly more is left."""
    if clean is None or not clean.value:
        return ""
    halved, robust, unclear = [], [], []
    for fill in fills:
        own = [size for size in sizes if size.facts.fill == fill and is_known(size.value)]
        own.sort(key=lambda size: -size.facts.area)
        # The largest first and no further than it is clear: each size is tested where the larger ones were clear, so that the
        # first of many is not called clear by chance.
        below = list(itertools.takewhile(lambda size: _beside_half(size, clean) < 0, own))
        if below:
            halved.append(
                f"{percent(below[-1].facts.area, 0)} ({fill})"
            )  # as in the labels: the share that was asked for
        elif own and all(_beside_half(size, clean) > 0 for size in own):
            robust.append(fill)
        else:
            unclear.append(fill)
    return (
        (f" It falls below half of its clean accuracy once the square covers {join_words(halved)}." if halved else "")
        + (f" At every size tried it keeps at least half of it under {join_words(robust)} squares." if robust else "")
        + (
            f" Too few images to decide whether it keeps half of it under {join_words(unclear)} squares."
            if unclear
            else ""
        )
    )


def _beside_half(size: AnyFinding, clean: AnyFinding) -> int:
    """1 where an accuracy is clearly above half of the clean one, −1 where it is clearly below, else 0.

    By the 95% interval of the difference, from those of both (Zou & Donner 2008), which count as independent: an image that is
    wrong clean is rather wrong covered too, so that the true interval is narrower.
    """
    own, whole = _ends(size), _ends(clean)
    if own is None or whole is None:
        return 0
    (low, value, high), (least, half, most) = own, (end / 2 for end in whole)
    if value - half > hypot(value - low, most - half):
        return 1
    return -1 if half - value > hypot(high - value, half - least) else 0


def _ends(finding: AnyFinding) -> tuple[float, float, float] | None:
    """The lower end, value and upper end; None where one is not known."""
    if is_known(finding.low) and is_known(finding.value) and is_known(finding.high):
        return finding.low, finding.value, finding.high
    return None


OCCLUSION = Section(
    published=published_by_marcu(
        "occlusion",
        {
            "14": "DI under a square of 10 to 100% inside the image, PreAct-ResNet18, mean ± deviation of 5 runs",
            "16": "the gaps that iOcclusion divides, in points, by covered share, on CIFAR-10",
        },
    ),
    blocks=occlusion_blocks,
    verdict=occlusion_sentences,
    columns={
        "covered": lambda finding: finding.name == "cut_occlusion",
        "iocclusion": lambda finding: finding.name == "mean_iocclusion",
    },
    losses=lambda finding: finding.name == "cut_occlusion",
    effects=frozenset({"fill_gap"}),
    elsewhere=frozenset({"occluded_accuracy"}),
    meanings=meanings("CutOcclusion", "Fill gap", "iOcclusion"),
)
