"""Backgrounds: accuracy without and with other backgrounds, image by image, by size, over models, beside published values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.measure import CATEGORIES
from snellen.report.blocks import (
    Block,
    Cell,
    Chart,
    Details,
    Facts,
    Heading,
    Line,
    Panels,
    Row,
    Span,
    Table,
    bold,
    heads,
    lead,
    note,
)
from snellen.report.results import Results
from snellen.report.sections.background_charts import (
    HUES,
    categories_chart,
    progress_chart,
    size_chart,
    variants_chart,
)
from snellen.report.sections.background_gallery import example_details
from snellen.report.sections.background_published import hole_details, published_blocks
from snellen.report.sections.background_values import AUDIT, CATEGORY_MEANING, background_values
from snellen.report.sections.section import Section
from snellen.report.words import index, interval, is_known, percent, points

Values = Mapping[str, Any]


def background_blocks(results: Results) -> list[Block]:
    """Everything about backgrounds; nothing without that audit."""
    values = background_values(results)
    if values is None:
        return []
    return [
        Heading("Backgrounds"),
        *_variant_blocks(values, results),
        *_category_blocks(values["models"], results),
        *example_details(results),
        *_progress_blocks(values["progress"]),
        *published_blocks(values["models"], results),
    ]


def _variant_blocks(values: Values, results: Results) -> list[Block]:
    models = values["models"]
    charts = [Chart("Accuracy on every variant", variants_chart(models, values["chance"]), wide=True)]
    if any(model["bins"] for model in models):
        mean: Line = ("the dotted line is the mean over all sizes",)
        charts.append(Chart("Background alone, by the size of the removed object", size_chart(models), (mean,)))
    blocks: list[Block] = [
        lead(
            "Accuracy when the background is taken away, exchanged or left alone. The objects are the same in every row, so "
            "what changes is what the background does. The dashed line is chance; the thin lines are 95% intervals."
        )
    ]
    if values["boxed"]:
        blocks.append(
            lead(
                bold("No masks:"),
                " an object is its whole box here, which brings some of its own background along. So gaps are understated, "
                "and a blackened object is a blackened box.",
            )
        )
    blocks += [Facts(results.keys()), Panels(tuple(charts))]
    if values["leakage"]:
        facts = values["leakage"]["facts"]
        blocks.append(
            note(
                "How much a size gives away: guessing the class from the size of the box alone is right on "
                f"{percent(facts['guessed'])}, naming the most frequent class always on {percent(facts['chance'])}. Accuracy "
                "on backgrounds without objects up to that much may come from the size of the hole."
            )
        )
    return [*blocks, hole_details(models, values["chance"])]


def _category_blocks(models: Sequence[Values], results: Results) -> list[Block]:
    hues = dict(zip(CATEGORIES, HUES))
    shares = [
        {"model": model["model"], "category": one["name"], "share": one["share"]}
        for model in models
        for one in model["categories"]
    ]
    counts = [
        Row(
            Cell(model["model"]),
            (
                *(Cell(f"{one['count']:,}", one["count"]) for one in model["categories"]),
                Cell(percent(model["needs_background"]["value"]), model["needs_background"]["value"]),
            ),
        )
        for model in models
    ]
    table = Table(heads("", *CATEGORIES, "need it"), tuple(counts), dense=True)
    return [
        Heading("What part the background plays, image by image", 3),
        Facts(tuple((Span(f"{name}: {CATEGORY_MEANING[name]}", hue=hue),) for name, hue in hues.items())),
        Panels((Chart("All images", categories_chart(shares, "model"), wide=True, below=(table,)),)),
        Panels(tuple(_class_panel(model, results) for model in models if model["by_class"])),
    ]


def _class_panel(model: Values, results: Results) -> Chart:
    shown = len(model["by_class"]) // len(CATEGORIES)
    few: tuple[Line, ...] = ((f"the {shown} of {model['classes']} classes that need it most",),)
    return Chart(
        f"{model['model']}, by class",
        categories_chart(model["by_class"], "class"),
        few if shown < model["classes"] else (),
        results.own_hue(model["model"]),
    )


def _progress_blocks(lines: Sequence[Values]) -> list[Block]:
    if not lines:
        return []
    slopes = [
        Row(Cell(line["words"]), (Cell(index(line["value"]), line["value"]), Cell(interval(line["low"], line["high"], "index"))))
        for line in lines
    ]  # fmt: skip
    return [
        Heading("Do better models need backgrounds less?", 3),
        lead(
            "One point per model; the lines are fitted. A slope says how many points are gained for each point of clean "
            "accuracy; its interval takes the models as a sample of models, so with few models it is wide."
        ),
        Panels(
            (
                Chart("Accuracy on each variant", progress_chart(lines, "accuracy")),
                Chart("Gaps between mixed variants", progress_chart(lines, "gap")),
            )
        ),
        Details("Slopes", (Table(heads("", "slope", "95% interval"), tuple(slopes)),)),
    ]


def background_sentences(results: Results, model: str) -> list[tuple[str, str]]:
    """What exchanging backgrounds does, how many images need their own, and how far backgrounds alone suffice."""
    findings = {one["name"]: one for one in results.of_audit(AUDIT) if one["model"] == model and is_known(one["value"])}
    gap = findings.get("bg_gap")
    if gap is None:
        return []
    facts = gap["facts"]
    sentences = [
        f"With other backgrounds of their own class objects are known on {percent(facts['mixed_same'])}, with backgrounds of "
        f"any class on {percent(facts['mixed_rand'])}: a BG-Gap of {points(gap['value']).removeprefix('+')} "
        f"(95% interval {interval(gap['low'], gap['high'], 'difference')})."
    ]
    if needs := findings.get("needs_background"):
        sentences.append(
            f"{percent(needs['value'])} of the images need their own: right with it, wrong with one of any class."
        )
    if alone := findings.get("only_bg_t_accuracy"):
        sentences.append(
            f"Backgrounds alone suffice on {percent(alone['value'])} (chance {percent(results.chance())})."
        )
    return [("Backgrounds", sentence) for sentence in sentences]


BACKGROUND = Section(blocks=background_blocks, verdict=background_sentences)
