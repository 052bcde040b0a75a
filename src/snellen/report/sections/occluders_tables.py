"""Tables of occluders: accuracy by type and level, ranks, swaps, proxies, residuals and distances in the class tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from snellen.report.blocks import Block, Cell, Group, Heading, Row, Table, heads, lead, note
from snellen.report.results import Finding
from snellen.report.sections.occluders_values import PEOPLE, REAL, Values, levels_in
from snellen.report.table import di_badge
from snellen.report.words import UNKNOWN, index, interval, is_known, percent, points


def model_cell(values: Values, model: str) -> Cell:
    """A model with its dot, or people."""
    return Cell(model, bold=True) if model == PEOPLE else Cell(model, hue=values.results.own_hue(model))


def accuracy_cell(one: Finding | None) -> Cell:
    """An accuracy with its interval and the DI of its occluder."""
    if one is None or not is_known(one["value"]):
        return Cell(UNKNOWN)
    return Cell(percent(one["value"]), one["value"], interval(one["low"], one["high"], "share"), di_badge(one))


def level_table(values: Values, kinds: Sequence[str]) -> list[Block]:
    """Table A1: a row per model, a column per type, for each level."""
    head = heads("", "unoccluded", *kinds)
    rows: list[Row | Group] = []
    for level in levels_in([one for kind in kinds for one in values.named("level_accuracy", type=kind)]):
        rows.append(Group(f"level {level}: {values.level_names(kinds[-1])[level]} hidden"))
        for model in values.rows:
            cells = (values.at(model, kinds[0], 0), *(values.at(model, kind, level) for kind in kinds))
            rows.append(Row(model_cell(values, model), tuple(map(accuracy_cell, cells))))
    return [Table(head, tuple(rows), dense=True)]


def share_table(values: Values, kinds: Sequence[str]) -> list[Block]:
    """Accuracy by type and bin of the hidden share."""
    names = values.level_names(kinds[0])
    rows: list[Row | Group] = []
    for kind in kinds:
        rows.append(Group(kind))
        for model in values.rows:
            cells = (accuracy_cell(values.at(model, kind, level)) for level in names)
            rows.append(Row(model_cell(values, model), tuple(cells)))
    return [Table(heads("", *names.values()), tuple(rows), dense=True)]


def relation_table(values: Values) -> list[Block]:
    """Real occluders of the object's class and of others; nothing where that is not known."""
    kinds = [kind for kind in values.types(REAL) if kind != REAL]
    if not kinds:
        return []
    levels = levels_in([one for kind in kinds for one in values.named("level_accuracy", type=kind)])
    head = heads("", *(f"{values.level_names(REAL)[level]} hidden" for level in levels))
    rows: list[Row | Group] = []
    for kind in kinds:
        rows.append(Group(kind.removeprefix("real, ")))
        for model in values.results.models:
            cells = (accuracy_cell(values.at(model, kind, level)) for level in levels)
            rows.append(Row(model_cell(values, model), tuple(cells)))
    return [Heading("By the class of the occluder", 3), Table(head, tuple(rows))]


def rank_table(values: Values, test: Finding, ranks: Sequence[Finding]) -> list[Block]:
    """Table A2 with table 2 below it: ranks by type, their mean, and Friedman's test."""
    facts = test["facts"]
    judges = facts["judges"]
    rows: list[Row | Group] = [Group(test["label"].removeprefix("Friedman's Q: "))]
    for one in sorted(ranks, key=lambda one: float(one["value"])):
        cells = [Cell(_rank(one["facts"]["ranks"].get(judge))) for judge in judges]
        mean = Cell(index(one["value"]), one["value"], interval(one["low"], one["high"], "index"), bold=True)
        rows.append(Row(model_cell(values, one["model"]), (mean, *cells)))
    how = {"chi2": "by χ²", "exact": "exact, all orders", "permutation": "by permutation"}.get(facts["method"], "")
    text = (
        f"Friedman's Q = {index(facts['q'])}, p {_p_words(facts['p'])} ({how}); Kendall's W = {index(facts['w'])}: "
        f"{agreement_words(facts['w'], facts['p'])}."
        if is_known(facts["q"])
        else "Friedman's test needs two models and two types that tell them apart."
    )
    return [Table(heads("", "mean rank", *map(short_name, judges)), tuple(rows), dense=True), note(text)]


def short_name(judge: str) -> str:
    """A type at the head of a narrow column."""
    return judge.removeprefix("lattice ").replace("_", "-")


def agreement_words(w: float | None, p: float | None) -> str:
    """What W and p say together."""
    if w is None or p is None or p >= 0.05:
        return "types do not agree more than chance would"
    return "types agree on the order" if w >= 0.7 else "types agree in part"


def swap_tables(values: Values, parts: Sequence[tuple[Finding, Sequence[Finding]]]) -> list[Block]:
    """The chance that a model and another change places, had other images been drawn."""
    models = list(values.results.models)
    tables: list[Block] = []
    for test, ranks in parts:
        rows: list[Row | Group] = [Group(test["label"].removeprefix("Friedman's Q: "))]
        for one in ranks:
            swap: Mapping[str, float | None] = one["facts"]["swap"]
            cells = [Cell("" if other == one["model"] else percent(swap.get(other), 0)) for other in models]
            rows.append(Row(model_cell(values, one["model"]), tuple(cells)))
        tables.append(Table(heads("", *models), tuple(rows), dense=True))
    return tables


def proxy_table(values: Values) -> list[Block]:
    """Kendall's τ of each synthetic type with real occlusion."""
    findings = values.named("proxy_tau")
    if not findings:
        return []
    rows: list[Row | Group] = []
    for level in levels_in(findings):
        own = [one for one in findings if one["facts"]["level"] == level]
        rows.append(Group(f"{own[0]['facts']['level_name']} hidden"))
        for one in own:
            facts = one["facts"]
            cells = (
                Cell(index(one["value"]), one["value"]), Cell(interval(one["low"], one["high"], "index")),
                Cell(interval(facts["images_low"], facts["images_high"], "index")), Cell(_p(facts["p"])),
            )  # fmt: skip
            rows.append(Row(Cell(facts["type"]), cells))
    return [
        Heading("Is synthetic occlusion a proxy for real occlusion?", 3),
        lead("Kendall's τ of the order of models under each type with that under real occlusion: 1 the same, −1 the reverse."),
        Table(heads("type", "τ", "with other models", "with other images", "p"), tuple(rows)),
        note("Fewer than five models have no interval over models."),
    ]  # fmt: skip


def residual_table(values: Values) -> list[Block]:
    """What models have under occlusion beyond their clean accuracy."""
    findings = values.named("occlusion_residual")
    if not findings:
        return []
    rows: list[Row | Group] = []
    for label in dict.fromkeys(one["label"] for one in findings):
        rows.append(Group(label.removeprefix("Beyond clean accuracy: ")))
        for one in (one for one in findings if one["label"] == label):
            facts = one["facts"]
            cells = (Cell(percent(facts["clean"])), Cell(percent(facts["occluded"])), Cell(points(one["value"]), one["value"]),
                     Cell(_p(facts["p_holm"])))  # fmt: skip
            rows.append(Row(model_cell(values, one["model"]), cells))
    return [
        Heading("Beyond clean accuracy", 3),
        lead(
            "Better models are better under occlusion too. What is left is how far a model lies off the line of all models."
        ),
        Table(heads("", "clean", "occluded", "beyond the line", "p (Holm)"), tuple(rows)),
        note("Fewer than four models have no p."),
    ]


def distance_table(values: Values) -> list[Block]:
    """How far off wrong answers are in the class tree."""
    findings = values.named("tree_distance")
    levels = levels_in(findings)
    names = {one["facts"]["level"]: one["facts"]["level_name"] for one in reversed(findings)}
    rows = []
    for model in values.rows:
        own = [values.one("tree_distance", model, level=level) for level in levels]
        cells = [
            Cell(UNKNOWN) if one is None or not is_known(one["value"])
            else Cell(index(one["value"]), one["value"], interval(one["low"], one["high"], "index"), note=_shares(one))
            for one in own
        ]  # fmt: skip
        rows.append(Row(model_cell(values, model), tuple(cells)))
    head = heads("", *(f"{names[level]} hidden" for level in levels))
    text = "Edges in the class tree from the truth to a wrong answer, mean and share of errors at each distance."
    return [Table(head, tuple(rows)), note(text)]


def _shares(one: Finding) -> str:
    shares = sorted(one["facts"]["shares"].items(), key=lambda item: int(item[0]))
    return ", ".join(f"{edges}: {percent(share, 0)}" for edges, share in shares)


def _rank(rank: float | None) -> str:
    return UNKNOWN if rank is None else f"{rank:g}"


def _p_words(p: float | None) -> str:
    text = _p(p)
    return text if text.startswith("<") else f"= {text}"


def _p(p: float | None) -> str:
    if p is None or not is_known(p):
        return UNKNOWN
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
