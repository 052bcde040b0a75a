"""Published background values (Xiao et al. 2021) beside those of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.audits.facts import Number
from snellen.models.label_maps.imagenet9 import plain_name
from snellen.report.blocks import Block, Chart, Details, Heading, Panels, Published, Row, Table, TableCell, heads, note
from snellen.report.charts import GRID, by_name, chart, filled_points, nominal, quantitative, rings, where
from snellen.report.guessing import Guess
from snellen.report.published import PublishedValue, published_table
from snellen.report.results import Results
from snellen.report.sections.background_values import ModelBackgrounds
from snellen.report.words import UNKNOWN, interval, percent

ALONE = ("only_bg_b", "only_bg_t")
PAPER = "Xiao et al. 2021"
COMPARABLE = (
    "The same nine classes; still, compare only with the same weights, and mind that other images and other masks give "
    "other values."
)
OTHER_DATA = (
    "the published values are of ImageNet-9. They say what gaps networks have had there, not how good this one is."
)


@dataclass(frozen=True)
class GapRow:
    """Published values, or those of a model of this run (`own`), in percent; `note` says whose weights they belong to."""

    name: str
    own: bool
    source: str
    note: str
    original: Number
    mixed_same: Number
    mixed_rand: Number
    bg_gap: float
    only_bg_t: Number


@dataclass(frozen=True)
class HoleRow:
    """Accuracies on backgrounds alone by variant, each with its interval, beside the accuracy of `guessing`; published or of a
    model of this run (`own`)."""

    name: str
    own: bool
    guessing: float
    values: Mapping[str, tuple[float, Number, Number]]


def published_blocks(models: Sequence[ModelBackgrounds], results: Results) -> list[Block]:
    """BG-Gaps and accuracies of this run among the published ones."""
    rows = published_rows(models)
    same = of_nine_classes(results.data["test"].classes)
    table = Table(
        heads("", "original", "same class", "any class", "BG-Gap", "background alone", "weights"),
        tuple(_row(row) for row in rows),
    )
    chart = Chart(
        "BG-Gap",
        published_chart(rows, list(results.models)),
        (("rings are published, filled points are this run's",),),
        wide=True,
    )
    inside = (Panels((chart,)), Details("All values, and whose weights they belong to", (table,)))
    return [
        Heading("Beside the published values", 3),
        Published(PAPER, same, COMPARABLE if same else OTHER_DATA, inside),
    ]


def hole_details(models: Sequence[ModelBackgrounds], guess: Guess) -> Details:
    """Answers to backgrounds alone beside guessing, folded."""
    rows = []
    for row in hole_rows(models, guess.level):
        cells = (*(_hole_cell(row.values.get(kind)) for kind in ALONE), TableCell(percent(row.guessing)))
        detail = "" if row.own else "published, table 5"
        rows.append(Row(TableCell(row.name, note=detail), cells, strong=row.own))
    return Details(
        "Backgrounds alone, beside guessing",
        (
            note(
                "Of a model trained on objects on black (only_fg) or on backgrounds of any class (mixed_rand), which "
                "tell nothing, what lies above guessing is what the hole gives away by its size and place. Of any other it is "
                "that and the background. Guessing is " + guess.line + "."
            ),
            Table(heads("", "box black", "box tiled", "guessing"), tuple(rows)),
        ),
    )


def of_nine_classes(classes: Sequence[str]) -> bool:
    """Whether the data have the nine classes of ImageNet-9."""
    names = [plain_name(name) for name in classes]
    return len(names) == 9 and None not in names and len(set(names)) == 9


def published_rows(models: Sequence[ModelBackgrounds]) -> list[GapRow]:
    """Published and own values in percent, by BG-Gap."""
    rows = [_own_row(model, model.bg_gap.value) for model in models if model.bg_gap.value is not None]
    rows += [
        _published_row(row, values, f"table {table}") for table in ("2", "5") for row, values in _main(table).items()
    ]
    rows += [_published_row(row, values, "README") for row, values in published_table("xiao2021", "README").items()]
    return sorted(rows, key=lambda row: row.bg_gap)


def hole_rows(models: Sequence[ModelBackgrounds], guessing: float) -> list[HoleRow]:
    """Answers to backgrounds alone; of networks that were taught nothing about backgrounds, which are published too, what lies
    above guessing is what the shape and size of the hole give away."""
    rows = []
    for model in models:
        alone = [variant for variant in model.variants if variant.facts.kind in ALONE]
        known = {each.facts.kind: (each.value, each.low, each.high) for each in alone if each.value is not None}
        rows.append(HoleRow(model.model, True, guessing, known))
    table = published_table("xiao2021", "5")
    for row in ("ResNet-50 trained on only_fg", "ResNet-50 trained on mixed_rand"):
        printed = {kind: (table[row][kind].value / 100, None, None) for kind in ALONE}
        rows.append(HoleRow(row, False, 1 / 9, printed))
    return rows


def _main(table: str) -> dict[str, dict[str, PublishedValue]]:
    """The rows of a table that are not also in another."""
    rows = published_table("xiao2021", table)
    chosen = {"ResNet-50 trained on original", "ResNet-50 trained on mixed_rand"}
    return rows if table == "2" else {row: values for row, values in rows.items() if row in chosen}


def _own_row(model: ModelBackgrounds, gap: float) -> GapRow:
    variants = {variant.facts.kind: _hundred(variant.value) for variant in model.variants}
    return GapRow(
        name=model.model,
        own=True,
        source="this run",
        note="",
        original=_hundred(model.original),
        mixed_same=variants["mixed_same"],
        mixed_rand=variants["mixed_rand"],
        bg_gap=100 * gap,
        only_bg_t=variants["only_bg_t"],
    )


def _published_row(row: str, values: Mapping[str, PublishedValue], source: str) -> GapRow:
    value = {column: printed.value for column, printed in values.items()}
    return GapRow(
        name=row,
        own=False,
        source=source,
        note=next(iter(values.values())).note,
        original=value.get("original"),
        mixed_same=value.get("mixed_same"),
        mixed_rand=value.get("mixed_rand"),
        bg_gap=value.get("bg_gap", value["mixed_same"] - value["mixed_rand"]),
        only_bg_t=value.get("only_bg_t"),
    )


def _row(row: GapRow) -> Row:
    values = (row.original, row.mixed_same, row.mixed_rand, row.bg_gap, row.only_bg_t)
    cells = [TableCell(UNKNOWN if value is None else f"{value:.1f}", value) for value in values]
    return Row(TableCell(row.name, note=row.source), (*cells, TableCell(row.note, tone="soft")), strong=row.own)


def _hole_cell(accuracy: tuple[float, Number, Number] | None) -> TableCell:
    if accuracy is None:
        return TableCell(UNKNOWN)
    value, low, high = accuracy
    return TableCell(percent(value), value, "" if low is None else interval(low, high, "share"))


def _hundred(value: Number) -> Number:
    return None if value is None else 100 * value


def published_chart(values: Sequence[GapRow], models: Sequence[str]) -> dict[str, Any]:
    """BG-Gaps in points, published ones as rings, those of this run as filled points in their models' colours."""
    names = [f"{row.name.replace(' trained on', ',')} ({row.source})" for row in values]
    rows = [
        {"label": name, "gap": row.bg_gap, "model": row.name if row.own else ""} for name, row in zip(names, values)
    ]
    y = nominal("label", names, ticks=False, grid=True, gridColor=GRID, labelLimit=330)
    at = {"x": quantitative("gap", "BG-Gap, points (less is better)", {"tickCount": 6}), "y": y}
    own = filled_points({**at, "color": by_name("model", models)}, 130)
    layers = where("datum.model === ''", rings(at)), where("datum.model !== ''", own)
    padding = {"left": 36, "top": 5, "right": 5, "bottom": 5}  # browsers' letters are wider than those measured
    return {**chart(360, {"step": 20}, rows, *layers), "padding": padding}
