"""The page of models side by side: where each looks in the same images, and how much of that lies on the object."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from snellen.audits.inside_mask import InsideDifferenceFacts, InsideMaskFacts
from snellen.engine.keep.run_folder import RunFolder
from snellen.report.answers import CellRow, answered_class, cell_rows, model_classes, stored_answers
from snellen.report.blocks import (
    Answer,
    Command,
    FactLine,
    Gallery,
    Heading,
    Page,
    Picture,
    Prose,
    Row,
    Table,
    TableCell,
    bold,
    heads,
    lead,
    note,
)
from snellen.report.pages.origin import command_of
from snellen.report.pictures import address_of
from snellen.report.render import write_page
from snellen.report.results import AnyFinding, Results
from snellen.report.table import CLEAN
from snellen.report.words import UNKNOWN, count_of, in_unit, interval, percent

SIDE = 160  # pixels of a picture's side on the page


@dataclass(frozen=True)
class MapOnImage:
    """A model's map over an image, as PNG, and the share of the map inside the mask (nan: the map is 0 everywhere)."""

    picture: bytes
    share: float


@dataclass(frozen=True)
class Example:
    """An image with its mask's edge, as PNG, the name of its class, and how each model looks at it."""

    sample: str
    label: str
    photo: bytes
    looks: Mapping[str, MapOnImage]


@dataclass(frozen=True)
class MapKind:
    """By which method maps are made, what they show, and whether that is for the class of the model's own answer."""

    method: str
    text: str
    by_class: bool


def write(folder: RunFolder, images: int, kind: MapKind, examples: Sequence[Example], path: Path) -> None:
    """Write the page of a run of the audit `inside_mask` over so many images."""
    write_page(page_of(folder, images, kind, examples), path)


def page_of(folder: RunFolder, images: int, kind: MapKind, examples: Sequence[Example]) -> Page:
    """The findings of the audit as a table, and the examples."""
    results = Results.of(folder)
    return Page(
        "Where models look, side by side",
        (
            FactLine(
                (
                    (bold(count_of(images, "image")), " of ", bold(results.data["test"].text)),
                    (f"maps by {kind.method}, {'of each model’s own answer' if kind.by_class else 'of no class'}",),
                    (f"snellen {results.header.snellen}",),
                )
            ),
            Command(command_of(results.facts)),
            Heading("How much of the map lies on the object"),
            _table(results),
            note(
                "An even map has the masks’ share of the image inside. Empty maps, where nothing at the layer speaks for the "
                "answer, count neither way. Small numbers are 95% intervals over images; differences are paired."
            ),
            Heading("Examples"),
            lead(
                "Each image with its mask’s edge in white, and the map of each model’s first run over it: "
                f"{kind.text}. From blue (little) to red, each map’s own maximum."
            ),
            _gallery(results, kind, examples),
            Prose(
                ("The share of every image is in inside.json beside this page, every answer in the run folder.",),
                "foot",
            ),
        ),
    )


def _table(results: Results) -> Table:
    shares = {finding.model: finding for finding in results.having(InsideMaskFacts)}
    differences = {finding.model: finding for finding in results.having(InsideDifferenceFacts)}
    first = next(iter(results.models))
    rows = []
    for model in results.models:
        share, difference = shares[model], differences.get(model)
        facts = share.facts
        empty = f"{count_of(facts.empty_maps, 'empty map')} left out" if facts.empty_maps else ""
        rows.append(
            Row(
                TableCell(model, note=results.runs(model), hue=results.hue(model)),
                (
                    _value(share),
                    TableCell(percent(facts.mask_share), facts.mask_share),
                    *([TableCell("") if difference is None else _value(difference)] if results.several else []),
                    TableCell(f"{share.n:,}", share.n, note=empty),
                ),
            )
        )
    other = [f"difference from {first}"] if results.several else []
    return Table(heads("model", "inside the mask", "masks cover", *other, "images"), tuple(rows))


def _value(finding: AnyFinding) -> TableCell:
    ends = interval(finding.low, finding.high, finding.unit)
    return TableCell(in_unit(finding.value, finding.unit), finding.value, ends, title=finding.text)


def _gallery(results: Results, kind: MapKind, examples: Sequence[Example]) -> Gallery:
    answers = _answers(results, [example.sample for example in examples])
    rows = []
    for example in examples:
        pictures = [Picture(address_of(example.photo), example.sample)]
        for model, look in example.looks.items():
            text = answers.get((model, example.sample), UNKNOWN)
            inside = "no map" if math.isnan(look.share) else f"{percent(look.share, 0)} inside"
            answer = Answer(text, text == example.label if example.label else None, inside, hue=results.own_hue(model))
            pictures.append(Picture(address_of(look.picture), f"{kind.method} of {model}", (answer,)))
        rows.append(Row(TableCell(example.label, title=example.sample), tuple(pictures)))
    return Gallery(heads("is", "image", *results.models), tuple(rows), side=SIDE)


def _answers(results: Results, samples: Sequence[str]) -> dict[tuple[str, str], str]:
    """(model, sample) → what its first run answered to the clean image, in words."""
    clean = {model: [row.cell for row in cell_rows(results) if _is_clean(row, model)] for model in results.models}
    rows = stored_answers(results.folder.store.files("answers"), samples)
    classes = results.data["test"].classes
    return {
        (model, sample): answered_class(rows[cells[0], sample], classes, model_classes(results, model))
        for model, cells in clean.items()
        for sample in samples
        if cells and (cells[0], sample) in rows
    }


def _is_clean(row: CellRow, model: str) -> bool:
    return (row.model, row.on, row.distortion) == (model, "test", CLEAN)
