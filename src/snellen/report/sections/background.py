"""Backgrounds: accuracy without and with other backgrounds, image by image, by size, over models, beside published values."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.audits.background_facts import BgGapFacts, NeedsBackgroundFacts, VariantFacts
from snellen.audits.facts import UnsetType
from snellen.audits.stored_finding import StoredFinding
from snellen.measure import CATEGORIES
from snellen.report.blocks import (
    Block,
    Chart,
    Details,
    FactLine,
    Heading,
    Line,
    Panels,
    Row,
    Span,
    Table,
    TableCell,
    bold,
    heads,
    lead,
    note,
)
from snellen.report.glossary import meanings
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
from snellen.report.sections.background_values import (
    CATEGORY_MEANING,
    ModelBackgrounds,
    ProgressLine,
    RunBackgrounds,
    background_values,
)
from snellen.report.sections.section import Section
from snellen.report.words import index, interval, is_known, percent, points


def background_blocks(results: Results) -> list[Block]:
    """Everything about backgrounds; nothing without that audit."""
    values = background_values(results)
    if values is None:
        return []
    return [
        Heading("Backgrounds"),
        *_variant_blocks(values, results),
        *_category_blocks(values.models, results),
        *example_details(results),
        *_progress_blocks(values.progress),
        *published_blocks(values.models, results),
    ]


def _variant_blocks(values: RunBackgrounds, results: Results) -> list[Block]:
    models = values.models
    charts = [Chart("Accuracy on every variant", variants_chart(models, values.guess.level), wide=True)]
    if any(model.bins for model in models):
        mean: Line = ("the dotted line is the mean over all sizes",)
        charts.append(Chart("Background alone, by the size of the removed object", size_chart(models), (mean,)))
    blocks: list[Block] = [
        lead(
            "Accuracy when the background is taken away, exchanged or left alone. The objects are the same in every row, so "
            "what changes is what the background does. "
            f"The dashed line is {values.guess.line}; the thin lines are 95% intervals."
        )
    ]
    if values.boxed:
        blocks.append(
            lead(
                bold("No masks:"),
                " an object is its whole box here, which brings some of its own background along. So gaps are understated, "
                "and a blackened object is a blackened box.",
            )
        )
    blocks += [FactLine(results.keys()), Panels(tuple(charts))]
    if values.leakage is not None:
        leakage = values.leakage.facts
        blocks.append(
            note(
                "How much a size gives away: guessing the class from the size of the box alone is right on "
                f"{percent(leakage.guessed)}, naming the most frequent class always on {percent(leakage.chance)}. Accuracy "
                "on backgrounds without objects up to that much may come from the size of the hole."
            )
        )
    return [*blocks, hole_details(models, values.guess)]


def _category_blocks(models: Sequence[ModelBackgrounds], results: Results) -> list[Block]:
    hues = dict(zip(CATEGORIES, HUES))
    shares = [
        {"model": model.model, "category": category, "share": model.categories.share(category)}
        for model in models
        for category in model.categories.counts
    ]
    counts = [
        Row(
            TableCell(model.model),
            (
                *(TableCell(f"{count:,}", count) for count in model.categories.counts.values()),
                TableCell(percent(model.needs.value), model.needs.value),
            ),
        )
        for model in models
    ]
    table = Table(heads("", *CATEGORIES, "need it"), tuple(counts), dense=True)
    return [
        Heading("What part the background plays, image by image", 3),
        FactLine(tuple((Span(f"{name}: {CATEGORY_MEANING[name]}", hue=hue),) for name, hue in hues.items())),
        Panels((Chart("All images", categories_chart(shares, "model"), wide=True, below=(table,)),)),
        Panels(tuple(_class_panel(model, results) for model in models if model.classes)),
    ]


def _class_panel(model: ModelBackgrounds, results: Results) -> Chart:
    shown, there = len(model.classes), len(model.needs.facts.by_class)
    few: tuple[Line, ...] = ((f"the {shown} of {there} classes that need it most",),)
    bars = [
        {"class": name, "category": category, "count": count, "share": own.share(category)}
        for name, own in model.classes.items()
        for category, count in own.counts.items()
    ]
    return Chart(
        f"{model.model}, by class",
        categories_chart(bars, "class"),
        few if shown < there else (),
        results.own_hue(model.model),
    )


def _progress_blocks(lines: Sequence[ProgressLine]) -> list[Block]:
    if not lines:
        return []
    slopes = [
        Row(
            TableCell(line.words),
            (
                TableCell(index(line.finding.value), line.finding.value),
                TableCell(interval(line.finding.low, line.finding.high, "index")),
            ),
        )
        for line in lines
    ]
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
    gaps = {gap.name: gap for gap in results.having(BgGapFacts) if gap.model == model and is_known(gap.value)}
    gap = gaps.get("bg_gap")
    if gap is None or isinstance(gap.facts.mixed_rand, UnsetType):
        return []
    sentences = [
        f"With other backgrounds of their own class {percent(gap.facts.mixed_same)} are classified correctly, with backgrounds "
        f"of any class {percent(gap.facts.mixed_rand)}: a BG-Gap of {points(gap.value).removeprefix('+')} "
        f"(95% interval {interval(gap.low, gap.high, 'difference')})."
    ]
    needs = {needs.model: needs for needs in results.having(NeedsBackgroundFacts) if is_known(needs.value)}
    if model in needs:
        sentences.append(
            f"{percent(needs[model].value)} of the images need their own: right with it, wrong with one of any class."
        )
    own = (variant for variant in results.having(VariantFacts) if variant.model == model and is_known(variant.value))
    if alone := {variant.facts.kind: variant for variant in own}.get("only_bg_t"):
        sentences.append(_alone_sentence(results, alone))
    return [("Backgrounds", sentence) for sentence in sentences]


def _alone_sentence(results: Results, alone: StoredFinding[VariantFacts]) -> str:
    """How far backgrounds alone suffice: not at all where one answer to every image would be right as often."""
    guess = results.guess(alone)
    if alone.low is not None and alone.low > guess.level:
        return f"Backgrounds alone suffice on {percent(alone.value)} ({guess.numbers})."
    right = f"{percent(alone.value)} of the backgrounds alone are classified correctly"
    if constant := results.constant_answer(alone):
        return f"{right} by a constant answer: {constant}. It is not shown to use them."
    return f"{right}, not clearly above {guess.threshold}."


BACKGROUND = Section(
    headline="bg_gap",
    blocks=background_blocks,
    verdict=background_sentences,
    columns={"other backgrounds": lambda finding: finding.name == "mixed_rand_accuracy"},
    losses=lambda finding: finding.name in ("mixed_same_accuracy", "mixed_rand_accuracy", "only_fg_accuracy"),
    effects=frozenset({"bg_gap", "needs_background"}),
    meanings=meanings("BG-Gap", "Images that need their background", "Outline", "Class leakage"),
)
