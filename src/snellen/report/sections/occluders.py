"""Occluders: accuracy by type and level, ranks of models, the class tree and people (Kassaw et al. 2024)."""

from __future__ import annotations

from snellen.report.blocks import Block, Chart, Details, Facts, Heading, Line, Panels, Span, lead, note
from snellen.report.results import Results
from snellen.report.sections.occluders_charts import depth_chart, level_chart, rank_chart
from snellen.report.sections.occluders_people import people_blocks
from snellen.report.sections.occluders_tables import (
    distance_table,
    level_table,
    proxy_table,
    rank_table,
    relation_table,
    residual_table,
    share_table,
    swap_tables,
)
from snellen.report.sections.occluders_values import AUDIT, PEOPLE, REAL, Values, levels_in
from snellen.report.sections.section import Section
from snellen.report.words import is_known, join_words, percent, points

POOLED = ("solid", "right-angle", "oblique")
FEW = 20  # images below which a level is not called the worst


def occluders_blocks(results: Results) -> list[Block]:
    """All tables and figures; nothing without the audit."""
    values = Values.of(results)
    if not values.findings:
        return []
    return [
        Heading("Occluders"),
        lead(
            "How accuracy falls as more is hidden, by what hides it. "
            + ("Real occlusion was there when the images were taken; " if values.types(REAL) else "")
            + "synthetic and diffuse occluders were put before the unoccluded images."
        ),
        *_shares_named(values),
        *level_blocks(values),
        *rank_blocks(values),
        *diffuse_blocks(values),
        *tree_blocks(values),
        *people_blocks(values),
    ]


def keys(values: Values) -> list[Block]:
    """The legend of lines: the models with their dots, and people."""
    people: tuple[Line, ...] = ((Span("people (dashed)", "bold"),),) if PEOPLE in values.rows else ()
    items = (*values.results.keys(), *people)
    return [Facts(items)] if items else []


def level_blocks(values: Values) -> list[Block]:
    """Figure 6 and table A1: accuracy at each level of real and synthetic occlusion."""
    kinds = [REAL, *values.types("synthetic")] if values.types(REAL) else values.types("synthetic")
    if not kinds:
        return []
    charts = [_curves(values, kind, "real occlusion" if kind == REAL else f"{kind} occluders") for kind in kinds]
    relations = relation_table(values)
    return [
        Heading("Accuracy by type and level", 3),
        *keys(values),
        Panels(tuple(charts), "small"),
        *level_table(values, kinds),
        note(
            "Bars and brackets are 95% intervals"
            + (", whole groups of images such as videos drawn together" if _clustered(values) else "")
            + ". “DI” marks a number that may be an artefact of its occluder."
        ),
        *relations,
    ]


def _curves(values: Values, kind: str, title: str) -> Chart:
    """A line per model, level by level, under one type."""
    axis = f"hidden share of the {values.share_of(kind)}"
    return Chart(title, level_chart(values.points(kind), values.rows, axis, list(values.level_names(kind).values())))


def rank_blocks(values: Values) -> list[Block]:
    """Figure 9, tables 2 and A2: ranks by type, Friedman's test, swaps, residuals and whether synthetic types are proxies."""
    parts = values.rank_parts()
    if not parts:
        return []
    blocks: list[Block] = [
        Heading("Ranks of the models", 3),
        lead(
            "Which model is best by each type. Where the lines cross, types disagree; Kendall's W is 1 where all agree, 0 where "
            "none do."
        ),
        *keys(values),
    ]  # fmt: skip
    charts = []
    for test, ranks in parts:
        facts = test["facts"]
        lines = [
            {"model": one["model"], "judge": judge, "rank": rank}
            for one in ranks
            for judge, rank in one["facts"]["ranks"].items()
        ]
        title = f"{_family(facts['family'], facts['judges'])}, {facts['level_name']} hidden"
        charts.append(Chart(title, rank_chart(lines, list(values.results.models), facts["judges"], len(ranks))))
    blocks += [Panels(tuple(charts)), *(table for test, ranks in parts for table in rank_table(values, test, ranks))]
    blocks += [Details("The chance that two models swap on other images", tuple(swap_tables(values, parts)))]
    return [*blocks, *proxy_table(values), *residual_table(values)]


def diffuse_blocks(values: Values) -> list[Block]:
    """Figures 14 and 15: solid, right-angle and oblique occluders, and lattices by the size of their squares."""
    there = values.types("diffuse")
    pooled = [kind for kind in POOLED if kind in there] or there
    panels = [
        (pooled, "Solid and diffuse occluders"),
        (values.types("lattice"), "Lattices by the size of their squares"),
    ]
    blocks: list[Block] = []
    for kinds, title in panels:
        if kinds:
            charts = [_curves(values, kind, kind) for kind in kinds]
            blocks += [Heading(title, 3), *keys(values), Panels(tuple(charts), "small")]
            blocks.append(Details("The numbers behind the curves", tuple(share_table(values, kinds))))
    return blocks


def tree_blocks(values: Values) -> list[Block]:
    """Figure 11: answers scored at each depth of the class tree, and how far off errors are."""
    name = values.depth_name()
    findings = values.named(name)
    if not findings:
        return []
    charts = []
    for level in levels_in(findings):
        own = [one for one in findings if one["facts"]["level"] == level and is_known(one["value"])]
        lines = [
            {
                "model": one["model"],
                "level": str(one["facts"]["depth"]),
                **{key: one[key] for key in ("value", "low", "high")},
            }
            for one in own
        ]
        if own:
            charts.append(Chart(f"{own[0]['facts']['level_name']} hidden", depth_chart(lines, values.rows)))
    seen = " on the images that the best people saw" if name.startswith("top") else ""
    return [
        Heading("At each depth of the class tree", 3),
        lead(f"At a small depth, confusing a class with a near one is no error. Accuracy{seen}:"),
        *keys(values),
        Panels(tuple(charts), "small"),
        *distance_table(values),
    ]


def occluders_sentences(results: Results, model: str) -> list[tuple[str, str]]:
    """What hurts a model most, and how it compares with people."""
    values = Values.of(results)
    levels = [
        one
        for one in values.named("level_accuracy")
        if one["model"] == model and is_known(one["facts"]["drop"]) and not one["facts"]["relation"]
    ]
    sentences = []
    if levels:
        many = [one for one in levels if one["n"] >= FEW] or levels
        most = max(many, key=lambda one: float(one["facts"]["drop"]))
        words = most["label"].removeprefix("Accuracy: ")
        sentences.append(
            f"Most is lost under {words}: {points(most['facts']['drop'])[1:]} to {percent(most['value'])}."
        )
    gap = values.one("human_gap", model, type="all")
    if gap is not None and is_known(gap["value"]):
        human, own_share = (percent(gap["facts"][name]) for name in ("human", "own"))
        sentences.append(f"People are right on {human} of the images that they saw, it on {own_share}.")
    return [("Under occluders", sentence) for sentence in sentences]


def _shares_named(values: Values) -> list[Block]:
    """Says which shares are of the image, because no mask tells the object's."""
    kinds = [*values.types("synthetic"), *values.types("diffuse")]
    if not kinds or values.share_of(kinds[0]) == "object":
        return []
    return [note("These data have no masks: hidden shares are shares of the image, not of the object.")]


def _clustered(values: Values) -> bool:
    return any(one["facts"]["clustered"] for one in values.named("level_accuracy"))


def _family(family: str, judges: list[str]) -> str:
    if family == "diffuse":
        return "diffuse occluders"
    return join_words([*(["real"] if REAL in judges else []), "synthetic"]) + " occluders"


OCCLUDERS = Section(
    blocks=occluders_blocks,
    verdict=occluders_sentences,
    columns={"occluders": lambda one: one["name"] == "unoccluded_accuracy" and one["audit"] == AUDIT},
    elsewhere=frozenset(
        {
            *("level_accuracy", "occlusion_slope", "tree_accuracy", "tree_distance", "mean_rank", "occlusion_residual"),
            *("human_gap", "top_image_accuracy", "top_tree_accuracy", "unoccluded_accuracy"),
        }
    ),
    meanings={
        "Hidden share": "How much of the object an occluder hides; of the image where the data have no masks. Lattices hide "
        "their share of the image.",
        "Kendall's W": "How far types of occluders agree on the order of the models: 1 wholly, 0 not at all.",
        "Beyond clean accuracy": "How far a model's accuracy under occlusion lies above the line of all models' occluded on "
        "clean accuracy: being better clean explains the rest.",
    },
)
