"""The items of the type `explanation`: maps of a run's models, compared or trusted by people who do not know the models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from snellen.data.dataset import Dataset
from snellen.engine.ask.maps import Maps
from snellen.errors import UserError, choice, option, unknown
from snellen.exam.run import Run
from snellen.explain.overlays import overlay
from snellen.web.pictures import plain_png
from snellen.web.study.folder import Item, Question, write_picture
from snellen.web.study.items import item_of, levels_of, rows_by_kind, sources_of
from snellen.web.study.request import StudyRequest
from snellen.web.study.stimuli import CLEAN, Stimuli

RIGHT, WRONG = "right", "wrong"  # answers to `trust-map`
FIRST, SECOND = "first", "second"  # answers to `better-map`: positions in `Item.options`, never names of models


def explanation_question(request: StudyRequest) -> Question:
    """What is asked about maps; no answer names a model."""
    if request.protocol == "better-map":
        labels = {FIRST: "left", SECOND: "right"}
        return Question("Which side explains the picture better?", (FIRST, SECOND), labels, captions=("left", "right"))
    return Question("Did the program name this picture right?", (RIGHT, WRONG), {RIGHT: "right", WRONG: "wrong"})


def explanation_items(request: StudyRequest, stimuli: Stimuli) -> list[Item]:
    """The items of images that have maps of all models asked for, as pictures with the map over them."""
    run = stimuli.run
    if run is None:
        raise UserError(f"{choice('protocol', request.protocol)} needs the maps of a run; give a run folder, not data")
    if request.distortions:
        advice = f"leave {option('distortions', '--distortion')} out"
        raise UserError(f"{choice('protocol', request.protocol)} shows maps of clean images; {advice}")
    models = _models(request, run, stimuli.model)
    maps = [run.maps(model, method=request.method) for model in models]
    stimuli = replace(stimuli, data=_with_maps(stimuli.data, maps))
    right = _right(run, models[0]) if request.protocol == "trust-map" else {}
    data = stimuli.data
    sources, levels = sources_of(data, request.apart), levels_of(data)
    items: list[Item] = []
    for kind, rows in rows_by_kind(replace(request, catch=0), data, sources).items():
        for shown in stimuli.show(rows, CLEAN, 0) if len(rows) else ():
            sample = data.samples.ids[shown.row]
            pictures = tuple(range(len(items) * len(maps), (len(items) + 1) * len(maps)))
            for number, heat in zip(pictures, maps):
                write_picture(request.out, number, plain_png(overlay(shown.pixels, heat.of([sample])[0])))
            item = item_of(len(items), kind, shown, data, (CLEAN, 0), sources[shown.row])
            label = (RIGHT if right[sample] else WRONG) if right else ""
            options = tuple(models) if len(models) > 1 else ()
            level = levels[shown.row] if levels else CLEAN
            facts = {"pictures": pictures, "options": options, "label": label, "level": level, "has_mask": False}
            items.append(msgspec.structs.replace(item, **facts))
    return items


def _models(request: StudyRequest, run: Run, first: str) -> list[str]:
    """The model whose maps are shown, and the one that they are compared with."""
    if request.protocol == "trust-map":
        return [first]
    known = list(run.facts["asked"])
    second = request.against or next((name for name in known if name != first), None)
    if second is None:
        raise UserError(f"{run.path} has one model, '{first}', and better-map compares two; audit both in one run")
    if second not in known:
        raise unknown("model", second, known)
    return [first, second]


def _with_maps(data: Dataset, maps: Sequence[Maps]) -> Dataset:
    """The images of which every model has a map."""
    known = set.intersection(*({str(sample) for sample in each.ids} for each in maps))
    rows = [row for row, sample in enumerate(data.samples.ids) if sample in known]
    if not rows:
        raise UserError(f"no image of {data.text} has a map of every model; audit with an audit that asks for maps")
    return data.at(np.array(rows))


def _right(run: Run, model: str) -> dict[str, bool]:
    """Whether the first run of a model names each clean image right."""
    answers = run.predictions()
    own = answers[(answers["model"] == model) & (answers["distortion"] == CLEAN) & (answers["on"] == "test")]
    own = own[own["run"] == own["run"].iloc[0]]
    return {str(sample): bool(score == 1) for sample, score in zip(own["sample"], own["score"])}
