"""Ranks of models under occluders: Friedman's test, swaps, proxies of real occlusion and residuals (Kassaw et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from snellen.audits.facts import UNSET
from snellen.audits.occluders.ranks import AgreementFacts, MeanRankFacts, OcclusionResidualFacts, ProxyFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import (
    Block,
    Chart,
    Details,
    Group,
    Heading,
    Panels,
    Row,
    Table,
    TableCell,
    heads,
    lead,
    note,
)
from snellen.report.charts import by_name, chart, dashes_by_name, filled_points, lines, nominal, quantitative
from snellen.report.results import Results
from snellen.report.sections.occluders.values import OccluderValues, levels_in
from snellen.report.table import corrected_note
from snellen.report.words import UNKNOWN, index, interval, is_known, percent, points

LEAST_P = 0.0001  # p below it are not told apart
METHODS = {"chi2": "by χ²", "exact": "exact, all orders", "permutation": "by permutation"}


@dataclass(frozen=True)
class Ranking:
    """The models' mean ranks by the types of one family at one level, and whether these types agree."""

    test: AgreementFacts
    ranks: tuple[StoredFinding[MeanRankFacts], ...]


def rankings_of(results: Results) -> list[Ranking]:
    """One for each family and level."""
    tests = [finding.facts for finding in results.having(AgreementFacts) if finding.name == "friedman_q"]
    ranks = results.having(MeanRankFacts)
    return [
        Ranking(
            test, tuple(rank for rank in ranks if (rank.facts.family, rank.facts.level) == (test.family, test.level))
        )
        for test in tests
    ]


def rank_blocks(values: OccluderValues) -> list[Block]:
    """Figure 9, tables 2 and A2: ranks by type, Friedman's test, swaps, residuals and whether synthetic types are proxies."""
    rankings = rankings_of(values.results)
    if not rankings:
        return []
    models = list(values.results.models)
    return [
        Heading("Ranks of the models", 3),
        lead(
            "Which model is best by each type. Where the lines cross, types disagree; Kendall's W is 1 where all agree, 0 where "
            "none do."
        ),
        *values.keys(),
        Panels(tuple(Chart(ranking.test.where, rank_chart(ranking, models)) for ranking in rankings)),
        *(block for ranking in rankings for block in _rank_table(values, ranking)),
        Details(
            "The chance that two models swap on other images",
            tuple(_swap_table(values, ranking) for ranking in rankings),
        ),
        *_proxy_table(values),
        *_residual_table(values),
    ]  # fmt: skip


def rank_chart(ranking: Ranking, models: Sequence[str]) -> dict[str, Any]:
    """The rank of each model by each type of occluder, the best on top (figure 9 of Kassaw et al. 2024)."""
    judges, count = ranking.test.judges, len(ranking.ranks)
    rows = [
        {"model": finding.model, "judge": judge.replace("_", "-"), "rank": rank}
        for finding in ranking.ranks
        for judge, rank in finding.facts.ranks.items()
    ]
    ticks = {"values": list(range(1, count + 1)), "format": "d"}
    at = {
        "x": nominal("judge", [judge.replace("_", "-") for judge in judges], labelAngle=-35),
        "y": quantitative("rank", "rank, 1 the best", ticks, domain=[count + 0.3, 0.7], nice=False),
        "color": by_name("model", models),
    }
    curves = lines({**at, "strokeDash": dashes_by_name("model", models)})
    return chart(max(260, 46 * len(judges)), max(150, 26 * count), rows, curves, filled_points(at, 46))


# Tables


def _rank_table(values: OccluderValues, ranking: Ranking) -> list[Block]:
    """Table A2 with table 2 below it: ranks by type, their mean, and Friedman's test."""
    test = ranking.test
    rows: list[Row | Group] = [Group(test.where)]
    for finding in sorted(ranking.ranks, key=lambda finding: finding.value or 0.0):
        cells = [TableCell(_rank(finding.facts.ranks.get(judge))) for judge in test.judges]
        ends = interval(finding.low, finding.high, "index")
        mean = TableCell(index(finding.value), finding.value, ends, bold=True)
        rows.append(Row(values.model_cell(finding.model), (mean, *cells)))
    text = (
        f"Friedman's Q = {index(test.q)}, p {_p_words(test.p)} ({METHODS.get(test.method, '')}); Kendall's W = "
        f"{index(test.w)}: {agreement_words(test)}."
        if is_known(test.q)
        else "Friedman's test needs two models and two types that tell them apart."
    )
    head = heads("", "mean rank", *map(values.short_name, test.judges))
    return [Table(head, tuple(rows), dense=True), note(text)]


def agreement_words(test: AgreementFacts) -> str:
    """What W and both p say together; of older runs, which have one, on these images."""
    if test.w is None or test.p is None or test.p >= 0.05:
        return "types are not shown to agree more than chance would"
    agree = "types agree on the order" if test.w >= 0.7 else "types agree in part"
    if test.p_images is UNSET:
        return f"{agree} on these images"
    if test.p_images is None or test.p_images >= 0.05:
        p = _p(test.p_images)
        return f"{agree} on these images, yet the models differ no more than equal ones (p = {p}, exchanged image by image)"
    return agree


def _swap_table(values: OccluderValues, ranking: Ranking) -> Table:
    """The chance that a model and another change places, had other images been drawn."""
    models = list(values.results.models)
    rows: list[Row | Group] = [Group(ranking.test.where)]
    for finding in ranking.ranks:
        chances = {model: percent(finding.facts.swap.get(model), 0) for model in models}
        cells = [TableCell("" if model == finding.model else chance) for model, chance in chances.items()]
        rows.append(Row(values.model_cell(finding.model), tuple(cells)))
    return Table(heads("", *models), tuple(rows), dense=True)


def _proxy_table(values: OccluderValues) -> list[Block]:
    """Kendall's τ of each synthetic type with real occlusion."""
    findings = values.results.having(ProxyFacts)
    if not findings:
        return []
    rows: list[Row | Group] = []
    for level, name in levels_in(finding.facts for finding in findings).items():
        rows.append(Group(f"{name} hidden"))
        for finding in findings:
            facts = finding.facts
            if facts.level == level:
                ends = interval(finding.low, finding.high, "index")
                other_images = interval(facts.images_low, facts.images_high, "index")
                tau = TableCell(index(finding.value), finding.value)
                p = facts.p if facts.p_corrected is UNSET else facts.p_corrected
                rows.append(Row(TableCell(facts.type), (tau, *heads(ends, other_images, _p(p)))))
    return [
        Heading("Is synthetic occlusion a proxy for real occlusion?", 3),
        lead("Kendall's τ of the order of models under each type with that under real occlusion: 1 the same, −1 the reverse."),
        Table(heads("type", "τ", "with other models", "with other images", "p"), tuple(rows)),
        note(f"Fewer than five models have no interval over models. {corrected_note(findings)}"),
    ]  # fmt: skip


def _residual_table(values: OccluderValues) -> list[Block]:
    """What models have under occlusion beyond their clean accuracy."""
    findings = values.results.having(OcclusionResidualFacts)
    if not findings:
        return []
    rows: list[Row | Group] = []
    for where in dict.fromkeys(finding.facts.where for finding in findings):
        rows.append(Group(where))
        for finding in findings:
            facts = finding.facts
            if facts.where == where:
                beyond = TableCell(points(finding.value), finding.value)
                accuracies = heads(percent(facts.clean), percent(facts.occluded))
                rows.append(Row(values.model_cell(finding.model), (*accuracies, beyond, TableCell(_p(facts.p_holm)))))
    tested = [finding for finding in findings if is_known(finding.facts.p_holm)]
    return [
        Heading("Beyond clean accuracy", 3),
        lead(
            "What clean accuracy does not explain of accuracy under occlusion: how far a model lies off the line of all models."
        ),
        Table(heads("", "clean", "occluded", "beyond the line", "p (Holm)"), tuple(rows)),
        note(f"Fewer than four models have no p. {corrected_note(tested)}"),
    ]


def _rank(rank: float | None) -> str:
    return UNKNOWN if rank is None else f"{rank:g}"


def _p_words(p: float | None) -> str:
    """p behind its name: `< 0.0001`, `= 0.03`."""
    return _p(p) if p is not None and p < LEAST_P else f"= {_p(p)}"


def _p(p: float | None) -> str:
    if p is None or not is_known(p):
        return UNKNOWN
    return f"< {LEAST_P}" if p < LEAST_P else f"{p:.2g}"
