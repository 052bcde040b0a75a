"""A few images under every distortion with each model's answer, from stored thumbnails and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from snellen.report.blocks import Gallery, Picture, Row, TableCell
from snellen.report.pictured import Pictured, SampleRow
from snellen.report.results import Results
from snellen.report.table import CLEAN
from snellen.report.words import in_words

PICTURES = 240  # that a gallery holds at most, with its columns and two images
MOST, LEAST = 8, 2  # images
ON = "test"


def gallery_of(pictured: Pictured) -> Gallery:
    """Columns (distortions, clean first) and rows (samples) of pictures with the answers of each model."""
    results = pictured.results
    if ON not in results.data:
        return Gallery((), ())
    distortions = _distortions(results)
    first = {text: _first_model(pictured, text) for text in distortions}
    rows = []
    for position, sample in _choose(pictured, distortions).items():
        pictures = []
        for text in distortions:
            replies = [pictured.answer(model, ON, text, sample) for model in results.models]
            cells = pictured.cells.get((first[text], ON, text))
            source = results.thumbnail(cells[0].shown, position) if cells else None
            answers = tuple(reply for reply in replies if reply is not None)
            pictures.append(Picture(source, f"{sample.class_name}: {in_words(text)}", answers))
        rows.append(Row(TableCell(sample.class_name, title=sample.sample), tuple(pictures)))
    columns = [TableCell(in_words(text), note="" if text == CLEAN else text) for text in distortions]
    return Gallery((TableCell("is"), *columns), tuple(rows))


def _distortions(results: Results) -> list[str]:
    """Clean, then every distortion in the order of the findings."""
    about = (finding.distortions for finding in results.findings if finding.on == ON)
    return list(dict.fromkeys([CLEAN, *(distortions[0] for distortions in about if len(distortions) == 1)]))


def _first_model(pictured: Pictured, distortion: str) -> str:
    """The first model that was asked about a distortion; empty where none was."""
    return next((model for model in pictured.results.models if (model, ON, distortion) in pictured.cells), "")


def positions_with_pictures(results: Results, folders: Sequence[str]) -> list[int]:
    """The positions pictured in most of the columns: audits may have stored single pictures of other samples."""
    thumbs = results.folder.path / "thumbs"
    files = [file for folder in folders if folder for file in (thumbs / folder).glob("*.png")]
    counts = Counter(int(file.stem) for file in files if file.stem.isdecimal())
    return sorted(position for position, count in counts.items() if count == max(counts.values()))


def _choose(pictured: Pictured, distortions: Sequence[str]) -> dict[int, SampleRow]:
    """Position → sample of some pictured samples, fewer of them under many distortions: one of each class in turn, classes
    spread evenly."""
    wanted = min(MOST, max(LEAST, PICTURES // len(distortions)))
    rows = [pictured.cells.get((_first_model(pictured, text), ON, text)) for text in distortions]
    counts = Counter(place for cells in rows if cells for place in pictured.positions[cells[0].shown])
    everywhere = sorted(place for place, count in counts.items() if count == max(counts.values()))
    listed = pictured.samples.get(ON, {})
    samples = {place: listed[place] for place in everywhere if place in listed}
    by_class: dict[int, list[int]] = {}
    for position, row in samples.items():
        by_class.setdefault(row.label, []).append(position)
    labels = sorted(by_class)
    if len(labels) > wanted:
        labels = [labels[i * len(labels) // wanted] for i in range(wanted)]
    turns = [by_class[label][turn] for turn in range(wanted) for label in labels if turn < len(by_class[label])]
    return {p: samples[p] for p in sorted(turns[:wanted], key=lambda p: (samples[p].label, p))}
