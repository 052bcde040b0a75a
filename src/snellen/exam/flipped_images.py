"""The images that only one of two models gets right, with what both said and, where it can be had, a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from snellen.data import Canvas, Photo, load_stored, render
from snellen.data.canvas import Unshowable
from snellen.engine.keep.thumbnail_file import SIDE, encode_thumbnail, read_thumbnail
from snellen.errors import UserError
from snellen.report.answers import AnswerRow, answered_class, cell_rows, model_classes, stored_answers
from snellen.report.pages.compared import FlippedImage
from snellen.report.pictures import packed_address
from snellen.report.results import Results

if TYPE_CHECKING:
    from snellen.exam.comparing import Entrant, PairScores


def flipped_images(
    first: Entrant, second: Entrant, scores: PairScores, places: np.ndarray, *, pictures: bool = True
) -> list[FlippedImage]:
    """The images at some places among those that both share, with the answers of each model's first run."""
    if not len(places):
        return []
    on, distortion = scores.on, scores.distortion
    here, there = scores.here[places], scores.there[places]
    samples = [first.side.sample(on, int(place)) for place in here]
    others = [second.side.sample(on, int(place)) for place in there]
    replies = _answers(first, [sample for sample, _ in samples], on, distortion)
    answered = _answers(second, [sample for sample, _ in others], on, distortion)
    shown = _pictures(first, here, on, distortion) if pictures else {}
    return [
        FlippedImage(sample, label, replies.get(sample, "?"), answered.get(other, "?"), shown.get(int(place)))
        for (sample, label), (other, _), place in zip(samples, others, here)
    ]


def _answers(entrant: Entrant, samples: Sequence[str], on: str, distortion: str) -> dict[str, str]:
    """Sample → the class that the model's first run answered."""
    results = Results.of(entrant.side.folder)
    run = results.models[entrant.model][0]
    cells = [
        row.cell for row in cell_rows(results)
        if (row.model, row.run, row.on, row.distortion) == (entrant.model, run, on, distortion)
    ]  # fmt: skip
    files = entrant.side.folder.store.files("answers")
    replies: Mapping[tuple[str, str], AnswerRow] = stored_answers(files, set(samples))
    classes, own = results.data[on].classes, model_classes(results, entrant.model)
    return {sample: answered_class(row, classes, own) for (cell, sample), row in replies.items() if cell in cells[-1:]}


def _pictures(entrant: Entrant, places: np.ndarray, on: str, distortion: str) -> dict[int, str]:
    """Place → a picture: the stored one, as it was shown, or else the photo where the data can still be read."""
    store = entrant.side.folder.store
    shown = [
        row["shown"] for row in store.cells()
        if (row["model"], row["on"], row["distortion"]) == (entrant.model, on, distortion)
    ]  # fmt: skip
    known: dict[int, str] = {}
    for place in map(int, places):
        path = store.thumbnail(shown[-1], place) if shown else None
        if path is not None and (content := read_thumbnail(path)) and (address := packed_address(content)):
            known[place] = address
    left = [int(place) for place in places if int(place) not in known]
    return known | (_photos(entrant, left, on) if left and distortion == "none()" else {})


def _photos(entrant: Entrant, places: Sequence[int], on: str) -> dict[int, str]:
    """Place → a small picture of the photo itself; nothing where the data are gone."""
    try:
        data = load_stored(entrant.side.folder.facts["data"][on]["text"])
        photos = data.read([place for place in places if place < len(data)])
    except UserError:
        return {}
    known = {}
    for place, photo in zip(places, photos):
        sample, _ = entrant.side.sample(on, place)
        if isinstance(photo, Photo) and data.samples.ids[place] == sample:
            try:
                picture = render(photo, Canvas(SIDE, SIDE, "pad"))
            except Unshowable:
                continue
            if address := packed_address(encode_thumbnail(picture.image)):
                known[place] = address
    return known
