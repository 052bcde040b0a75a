"""Galleries of explanations: the same image under each model, and those on which WSOL and EnergyPG disagree."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.audits.alignment_facts import DisagreementFacts, EnergyFacts, MapExample, MapReadingFacts
from snellen.audits.stored_finding import StoredFinding
from snellen.report.blocks import Answer, Block, Details, Gallery, Group, Heading, Picture, Row, TableCell, heads, lead
from snellen.report.map_pictures import MapPictures
from snellen.report.results import Results
from snellen.report.words import percent

SIDE = 168  # pixels of a picture on the page
PAIR_SIDE = 144  # where two pairs stand side by side


def example_blocks(energies: Sequence[StoredFinding[EnergyFacts]], results: Results) -> list[Block]:
    """Some images, a column per model: its map, the object's box and the numbers of this image."""
    facts = {finding.model: finding.facts for finding in energies if finding.facts.examples}
    if not facts:
        return []
    examples = {model: {example.sample: example for example in own.examples} for model, own in facts.items()}
    samples = list(dict.fromkeys(sample for own in examples.values() for sample in own))
    pictures = MapPictures.of(results, samples)
    reading = next(iter(facts.values()))
    rows = []
    for sample in samples:
        label = pictures.label(sample)
        first = next(model for model, own in examples.items() if sample in own)
        photo = Picture(pictures.photo(first, examples[first][sample]), f"{label}: the image")
        looks = [_look(pictures, model, own.get(sample), reading, label) for model, own in examples.items()]
        rows.append(Row(TableCell(label, title=sample), (photo, *looks)))
    return [
        Heading("The same images under each model", 3),
        lead(
            "White: the object’s boxes. Magenta: the box that WSOL takes from the map. Colours from blue to red: the map."
        ),
        Gallery(heads("is", "the object’s box", *examples), tuple(rows), side=SIDE),
    ]


def disagreement_blocks(disagreements: Sequence[StoredFinding[DisagreementFacts]], results: Results) -> list[Block]:
    """The images on which one model has the better box and the other more energy on the object, strongest first."""
    apart = [finding for finding in disagreements if finding.facts.pairs]
    if not apart:
        return []
    samples = list(dict.fromkeys(pair.own.sample for finding in apart for pair in finding.facts.pairs))
    pictures = MapPictures.of(results, samples)
    rows: list[Row | Group] = []
    for finding in apart:
        model, facts = finding.model, finding.facts
        words = f"{facts.other} and {model}: disagree on {percent(finding.value)} of the images"
        rows.append(Group(words, results.hue(model)))
        for pair in facts.pairs:
            label = pictures.label(pair.own.sample)
            looks = tuple(
                _look(pictures, name, example, facts, label)
                for name, example in ((facts.other, pair.other), (model, pair.own))
            )
            rows.append(Row(TableCell(label, title=pair.own.sample), looks))
    most = max(len(finding.facts.pairs) for finding in apart)
    gallery = Gallery(heads("is", "baseline", "the other model"), tuple(rows), across=min(2, most), side=PAIR_SIDE)
    return [Details("Images on which WSOL prefers one model and EnergyPG the other", (gallery,), open=True)]


def _look(
    pictures: MapPictures, model: str, example: MapExample | None, reading: MapReadingFacts, label: str
) -> Picture:
    if example is None:
        return Picture(None, f"{model} has no map")
    answer = pictures.answer(model, example.sample, label)
    numbers = Answer(
        f"EnergyPG {percent(example.energy_pg, 0)}",
        note=f"EHR {percent(example.ehr, 0)}, IoU {percent(example.iou, 0)}",
    )
    answers = (numbers,) if answer is None else (answer, numbers)
    return Picture(pictures.map(model, example, reading.method, reading.layer), f"where {model} looks", answers)
