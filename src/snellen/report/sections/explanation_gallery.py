"""Galleries of explanations: the same image under each model, and those on which WSOL and EnergyPG disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.report.blocks import Answer, Block, Cell, Details, Gallery, Group, Heading, Picture, Row, heads, lead
from snellen.report.map_pictures import MapPictures
from snellen.report.results import Finding, Results
from snellen.report.words import UNKNOWN, is_known, percent

SIDE = 168  # pixels of a picture on the page
PAIR_SIDE = 144  # where two pairs stand side by side
Example = Mapping[str, Any]


def example_blocks(findings: Sequence[Finding], results: Results) -> list[Block]:
    """Some images, a column per model: its map, the object's box and the numbers of this image."""
    by_model = {one["model"]: one for one in findings if one["facts"].get("examples")}
    if not by_model:
        return []
    examples = {
        model: {example["sample"]: example for example in one["facts"]["examples"]} for model, one in by_model.items()
    }
    samples = list(dict.fromkeys(sample for some in examples.values() for sample in some))
    pictures = MapPictures.of(results, samples)
    facts = next(iter(by_model.values()))["facts"]
    rows = []
    for sample in samples:
        label = pictures.label(sample)
        first = next(model for model, some in examples.items() if sample in some)
        photo = Picture(pictures.photo(first, examples[first][sample]), f"{label}: the image")
        looks = [_look(pictures, model, some.get(sample), facts, label) for model, some in examples.items()]
        rows.append(Row(Cell(label, title=sample), (photo, *looks)))
    head = heads("is", "the object’s box", *examples)
    return [
        Heading("The same images under each model", 3),
        lead(
            "White: the object’s boxes. Magenta: the box that WSOL takes from the map. Colours from blue to red: the map."
        ),
        Gallery(head, tuple(rows), side=SIDE),
    ]


def disagreement_blocks(findings: Sequence[Finding], results: Results) -> list[Block]:
    """The images on which one model has the better box and the other more energy on the object, strongest first."""
    apart = [one for one in findings if one["name"] == "wsol_disagreement" and one["facts"]["pairs"]]
    if not apart:
        return []
    samples = list(dict.fromkeys(pair["own"]["sample"] for one in apart for pair in one["facts"]["pairs"]))
    pictures = MapPictures.of(results, samples)
    rows: list[Row | Group] = []
    for one in apart:
        model, facts = one["model"], one["facts"]
        rows.append(
            Group(
                f"{facts['other']} and {model}: disagree on {percent(one['value'])} of the images", results.hue(model)
            )
        )
        for pair in facts["pairs"]:
            label = pictures.label(pair["own"]["sample"])
            looks = tuple(
                _look(pictures, name, example, facts, label)
                for name, example in ((facts["other"], pair["other"]), (model, pair["own"]))
            )
            rows.append(Row(Cell(label, title=pair["own"]["sample"]), looks))
    most = max(len(one["facts"]["pairs"]) for one in apart)
    gallery = Gallery(heads("is", "baseline", "the other model"), tuple(rows), across=min(2, most), side=PAIR_SIDE)
    words = "Images on which WSOL prefers one model and EnergyPG the other"
    return [Details(words, (gallery,), open=True)]


def _look(pictures: MapPictures, model: str, example: Example | None, request: Example, label: str) -> Picture:
    if example is None:
        return Picture(None, f"{model} has no map")
    answer = pictures.answer(model, example["sample"], label)
    numbers = Answer(
        f"EnergyPG {_percent(example['energy_pg'])}",
        note=f"EHR {_percent(example['ehr'])}, IoU {_percent(example['iou'])}",
    )
    answers = (numbers,) if answer is None else (answer, numbers)
    return Picture(pictures.map(model, example, request), f"where {model} looks", answers)


def _percent(value: float | None) -> str:
    return percent(value, 0) if is_known(value) else UNKNOWN
