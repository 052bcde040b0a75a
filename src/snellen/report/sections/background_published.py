"""Published background values (Xiao et al. 2021) beside those of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.models.label_maps.imagenet9 import plain_name
from snellen.report.blocks import Block, Cell, Chart, Details, Heading, Panels, Published, Row, Table, heads, note
from snellen.report.published import PublishedValue, published_table
from snellen.report.results import Results
from snellen.report.sections.background_charts import published_chart
from snellen.report.words import UNKNOWN, in_unit, interval, is_known

ALONE = ("only_bg_b", "only_bg_t")
SHOWN = ("original", "mixed_same", "mixed_rand", "bg_gap", "only_bg_t")
PAPER = "Xiao et al. 2021"
COMPARABLE = (
    "The same nine classes; still, compare only with the same weights, and mind that other images and other masks give "
    "other values."
)
OTHER_DATA = (
    "the published values are of ImageNet-9. They say what gaps networks have had there, not how good this one is."
)


def published_blocks(models: Sequence[Mapping[str, Any]], results: Results) -> list[Block]:
    """BG-Gaps and accuracies of this run among the published ones."""
    rows = published_rows(models)
    same = of_nine_classes(results.data["test"]["classes"])
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


def hole_details(models: Sequence[Mapping[str, Any]], chance: float) -> Details:
    """How far answers to backgrounds alone are above guessing, folded."""
    rows = []
    for row in hole_rows(models, chance):
        cells = tuple(_hole_cell(row["cells"].get(kind)) for kind in ALONE)
        detail = "" if row["own"] else "published, table 5 less 1 in 9"
        rows.append(Row(Cell(row["name"], note=detail), cells, strong=row["own"]))
    return Details(
        "Backgrounds alone, above guessing",
        (
            note(
                "Of a model trained on objects on black (only_fg) or on backgrounds of any class (mixed_rand), which "
                "tell nothing, this is what the hole gives away by its size and place. Of any other it is that and the "
                "background."
            ),
            Table(heads("", "box black", "box tiled"), tuple(rows)),
        ),
    )


def of_nine_classes(classes: Sequence[str]) -> bool:
    """Whether the data have the nine classes of ImageNet-9."""
    names = [plain_name(name) for name in classes]
    return len(names) == 9 and None not in names and len(set(names)) == 9


def published_rows(models: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Published and own values in percent, by BG-Gap."""
    rows = [
        {
            "name": model["model"],
            "own": True,
            "source": "this run",
            "note": "",
            "original": _hundred(model["original"]),
            **{one["kind"]: _hundred(one["value"]) for one in model["variants"]},
            "bg_gap": _hundred(model["bg_gap"]["value"]),
        }
        for model in models
        if is_known(model["bg_gap"]["value"])
    ]
    rows += [_values(row, values, f"table {table}") for table in ("2", "5") for row, values in _main(table).items()]
    rows += [_values(row, values, "README") for row, values in published_table("004", "README").items()]
    return sorted(rows, key=lambda row: row["bg_gap"])


def hole_rows(models: Sequence[Mapping[str, Any]], chance: float) -> list[dict[str, Any]]:
    """How far answers to backgrounds alone are above guessing; of networks that were taught nothing about backgrounds, which are
    published too, that is what the shape and size of the hole give away."""
    rows = [
        {
            "name": model["model"],
            "own": True,
            "cells": {
                one["kind"]: {
                    name: one[name] - chance if is_known(one[name]) else None for name in ("value", "low", "high")
                }
                for one in model["variants"]
                if one["kind"] in ALONE and is_known(one["value"])
            },
        }
        for model in models
    ]
    table = published_table("004", "5")
    for row in ("ResNet-50 trained on only_fg", "ResNet-50 trained on mixed_rand"):
        cells = {kind: {"value": table[row][kind].value / 100 - 1 / 9, "low": None, "high": None} for kind in ALONE}
        rows.append({"name": row, "own": False, "cells": cells})
    return rows


def _main(table: str) -> dict[str, dict[str, PublishedValue]]:
    """The rows of a table that are not also in another."""
    rows = published_table("004", table)
    chosen = {"ResNet-50 trained on original", "ResNet-50 trained on mixed_rand"}
    return rows if table == "2" else {row: values for row, values in rows.items() if row in chosen}


def _values(row: str, values: Mapping[str, PublishedValue], source: str) -> dict[str, Any]:
    value = {column: one.value for column, one in values.items()}
    gap = value.get("bg_gap", value["mixed_same"] - value["mixed_rand"])
    weights = next(iter(values.values())).note
    shown = {kind: value.get(kind) for kind in ("original", "mixed_same", "mixed_rand", "only_bg_t")}
    return {"name": row, "own": False, "source": source, "note": weights, **shown, "bg_gap": gap}


def _row(row: Mapping[str, Any]) -> Row:
    values = [row[kind] for kind in SHOWN]
    cells = [Cell(UNKNOWN if value is None else f"{value:.1f}", value) for value in values]
    return Row(Cell(row["name"], note=row["source"]), (*cells, Cell(row["note"], tone="soft")), strong=row["own"])


def _hole_cell(cell: Mapping[str, Any] | None) -> Cell:
    if cell is None:
        return Cell(UNKNOWN)
    ends = "" if cell["low"] is None else interval(cell["low"], cell["high"], "difference")
    return Cell(in_unit(cell["value"], "difference"), cell["value"], ends)


def _hundred(value: float | None) -> float | None:
    return None if value is None else 100 * value
