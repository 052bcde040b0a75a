"""The page of models compared: their accuracies, every pair, the images that only one of two gets right, and a rank diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from typing import Any

from snellen.audits.facts import without_nan
from snellen.measure.comparison import Comparison
from snellen.measure.estimate import Estimate
from snellen.measure.rank_differences import CriticalDifference
from snellen.report.blocks import (
    Answer,
    Block,
    Chart,
    Gallery,
    Heading,
    Page,
    Picture,
    Row,
    Table,
    TableCell,
    heads,
    lead,
    note,
)
from snellen.report.charts import INK, by_name, chart, filled_points, layer, nominal, quantitative
from snellen.report.render import write_page
from snellen.report.words import UNKNOWN, count_of, in_words, interval, percent, points

CLEAR = 0.05
LEAST_P = 0.0001


@dataclass(frozen=True)
class FlippedImage:
    """An image that only one of two gets right: its class, what the two said, and a picture as a data address."""

    sample: str
    label: str
    first: str
    second: str
    picture: str | None = None


@dataclass(frozen=True)
class ComparedPair:
    """Two models on the same images: the difference, its p after Holm's correction over all pairs, and who alone is right where.

    `visible` is the smallest difference that would mostly have been shown. Of the images that only one gets right the counts are
    of all, the lists of those that are pictured.
    """

    first: str
    second: str
    difference: Comparison
    p: float
    p_corrected: float
    visible: float
    only_first: int
    only_second: int
    first_images: tuple[FlippedImage, ...] = ()
    second_images: tuple[FlippedImage, ...] = ()


@dataclass(frozen=True)
class ComparedModels:
    """What was asked, the accuracy of each model, every pair and, for three models and more, their ranks over all questions."""

    on: str
    distortion: str
    accuracies: Mapping[str, Estimate]
    pairs: tuple[ComparedPair, ...]
    ranks: CriticalDifference | None = None
    questions: tuple[str, ...] = ()


def compared_json(compared: ComparedModels) -> dict[str, Any]:
    """The comparison as plain values, without pictures; nan becomes null."""
    pairs = [{**asdict(pair), "difference": asdict(pair.difference)} for pair in compared.pairs]
    for pair in pairs:
        for images in ("first_images", "second_images"):
            del pair[images]
    ranks = compared.ranks
    of_models = {} if ranks is None else dict(zip(compared.accuracies, ranks.test.mean_ranks.tolist()))
    content = {
        "on": compared.on,
        "distortion": compared.distortion,
        "accuracies": {model: asdict(own) for model, own in compared.accuracies.items()},
        "pairs": pairs,
        "mean_ranks": of_models,
        "critical_difference": None if ranks is None else ranks.critical,
        "friedman": None if ranks is None else {"q": ranks.test.q, "p": ranks.test.p, "w": ranks.test.w},
        "questions": list(compared.questions),
    }
    plain: dict[str, Any] = without_nan(content)
    return plain


def pair_rows(compared: ComparedModels) -> list[tuple[str, ...]]:
    """The table of pairs for a terminal; the first row is the head."""
    rows: list[tuple[str, ...]] = [("pair", "difference", "95% interval", "p", "only 1st", "only 2nd", "visible from")]
    for pair in compared.pairs:
        own = pair.difference
        rows.append(
            (
                f"{pair.first} − {pair.second}",
                points(own.value),
                interval(own.low, own.high, "difference"),
                _p_words(pair.p_corrected).removeprefix("p = ").removeprefix("p "),
                f"{pair.only_first:,}",
                f"{pair.only_second:,}",
                _visible(pair),
            )
        )
    return rows


def pair_legend(compared: ComparedModels) -> str:
    """What the columns of that table are."""
    over = (
        f", p after Holm's correction over {count_of(len(compared.pairs), 'pair')}" if len(compared.pairs) > 1 else ""
    )
    return (
        f"Paired on the same images{over}. only 1st, only 2nd: images that only this model gets right. visible from: the "
        "smallest true difference that these images would have shown in 80% of cases."
    )


def write_compared(compared: ComparedModels, path: Path) -> Path:
    """Write the page (HTML, Markdown or JSON, by the suffix); its path."""
    write_page(page_of_compared(compared), path)
    return path


def page_of_compared(compared: ComparedModels) -> Page:
    """The page of a comparison."""
    return Page(f"Compared: {', '.join(compared.accuracies)}", tuple(compared_blocks(compared)))


def compared_blocks(compared: ComparedModels) -> list[Block]:
    """Accuracies and pairs as tables, the flips of each pair as pictures both ways, and the diagram of ranks."""
    about = f"{compared.on} images" + ("" if compared.distortion == "none()" else f", {in_words(compared.distortion)}")
    blocks: list[Block] = [lead(f"Accuracy on the same {about}."), _accuracies(compared)]
    blocks += [Heading("Pairs"), _pairs(compared), note(*_about_pairs(compared))]
    for pair in compared.pairs:
        blocks += flip_blocks(pair)
    return [*blocks, *rank_blocks(compared)]


def flip_blocks(pair: ComparedPair) -> list[Block]:
    """The images that only the first of a pair gets right, then those of the second; nothing where none is listed."""
    blocks: list[Block] = []
    sides = ((True, pair.first_images, pair.only_first), (False, pair.second_images, pair.only_second))
    for first, images, count in sides:
        if images:
            shown = f"{len(images)} of {count_of(count, 'image')}" if len(images) < count else count_of(count, "image")
            right, wrong = (pair.first, pair.second) if first else (pair.second, pair.first)
            blocks += [Heading(f"Only {right} is right, {wrong} is not: {shown}", 3), _grid(pair, images, first)]
    return blocks


def rank_blocks(compared: ComparedModels) -> list[Block]:
    """Friedman's test and the diagram of critical differences; nothing for fewer than three models or two questions."""
    ranks = compared.ranks
    if ranks is None or ranks.test.method == "none":
        return []
    clear = "do" if ranks.test.p < CLEAR else "do not clearly"
    title = f"Mean rank over {count_of(len(compared.questions), 'question')}"
    caption = (
        f"Friedman's Q = {ranks.test.q:.1f}, {_p_words(ranks.test.p)}: the questions {clear} rank the models alike. Models under "
        f"one bar do not differ by the critical difference of {ranks.critical:.2f} (Nemenyi, 5% over all pairs).",
    )
    return [
        Heading("Ranks"),
        Chart(title, rank_chart(list(compared.accuracies), ranks), (caption,), wide=True),
        note(
            "Each question, such as one distortion, ranks the models by accuracy. The test is about other questions like these; "
            "all are asked of the same images, so it says nothing about other images. The pairs above do."
        ),
    ]


def rank_chart(models: Sequence[str], ranks: CriticalDifference) -> dict[str, Any]:
    """The diagram of Demšar (2006): models by mean rank, and below them a bar for each set of which no two differ."""
    by_rank = sorted(zip(models, ranks.test.mean_ranks.tolist()), key=lambda pair: pair[1])
    rows = [{"model": model, "rank": rank} for model, rank in by_rank]
    bars = []
    for number, places in enumerate(ranks.alike):
        ends = [float(ranks.test.mean_ranks[place]) for place in places]
        bars.append({"model": f"not apart{' ' * number}", "from": min(ends), "to": max(ends)})  # each a line of its own
    order = [str(row["model"]) for row in (*rows, *bars)]
    x = quantitative("rank", "mean rank (1 is best)", domain=[1, len(models)], nice=False, padding=12)
    y = nominal("model", order)
    joined = {"x": {**x, "field": "from"}, "x2": {"field": "to"}, "y": y}
    return chart(
        420, {"step": 24}, rows, filled_points({"x": x, "y": y, "color": by_name("model", list(models))}, 90),
        layer("rule", joined, bars, color=INK, strokeWidth=5, opacity=0.5),
    )  # fmt: skip


def _accuracies(compared: ComparedModels) -> Table:
    best = sorted(compared.accuracies.items(), key=lambda item: -item[1].value)
    rows = [
        Row(
            TableCell(model), (TableCell(percent(own.value), own.value, interval=interval(own.low, own.high, "share")),)
        )
        for model, own in best
    ]
    return Table(heads("model", "accuracy"), tuple(rows))


def _pairs(compared: ComparedModels) -> Table:
    head = heads("pair", "difference", "p", "only the first is right", "only the second", "would mostly be shown")
    return Table(head, tuple(_pair_row(pair) for pair in compared.pairs))


def _pair_row(pair: ComparedPair) -> Row:
    own = pair.difference
    clear = pair.p_corrected < CLEAR
    cells = (
        TableCell(points(own.value), own.value, interval=interval(own.low, own.high, "difference"), bold=clear),
        TableCell(_p_words(pair.p_corrected).removeprefix("p = ").removeprefix("p "), pair.p_corrected),
        TableCell(f"{pair.only_first:,}", pair.only_first),
        TableCell(f"{pair.only_second:,}", pair.only_second),
        TableCell(_visible(pair), pair.visible),
    )
    return Row(TableCell(f"{pair.first} − {pair.second}"), cells)


def _about_pairs(compared: ComparedModels) -> tuple[str, ...]:
    over = f", after Holm's correction over {count_of(len(compared.pairs), 'pair')}" if len(compared.pairs) > 1 else ""
    return (
        "Paired on the same images: 95% bootstrap interval; p of McNemar's exact test for right or wrong answers of one run, "
        f"else of the mean difference over its error{over}. Bold: p below 0.05. The last column is the smallest true difference "
        "that these images would have shown in 80% of cases.",
    )


def _grid(pair: ComparedPair, images: Sequence[FlippedImage], first: bool) -> Gallery:
    rows = []
    for image in images:
        answers = (
            Answer(image.first, first, title=pair.first),
            Answer(image.second, not first, title=pair.second),
        )
        rows.append(Row(TableCell(image.label, title=image.sample), (Picture(image.picture, image.label, answers),)))
    return Gallery(heads("is", f"{pair.first}, then {pair.second}"), tuple(rows), across=3)


def _visible(pair: ComparedPair) -> str:
    return UNKNOWN if isnan(pair.visible) else f"{100 * pair.visible:.1f} points"


def _p_words(p: float) -> str:
    if isnan(p):
        return UNKNOWN
    return f"p < {LEAST_P}" if p < LEAST_P else f"p = {p:.2g}"
