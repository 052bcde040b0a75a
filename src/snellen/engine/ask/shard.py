"""Answering one shard: every model under every distortion while the images are in memory.

`answer` is a pure function of the slides and the state of the pass; executors only place it and make tables of its result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from snellen.data.dataset import Dataset, Samples
from snellen.distort import Distortion, View, moved, show
from snellen.distort.draws import on_device
from snellen.engine.ask.maps import ShardMaps, make_maps
from snellen.engine.ask.memory import within_memory
from snellen.engine.ask.pass_state import CanvasSlides, PassState, map_under, put_on_device, view_of
from snellen.engine.ask.slides import Slides
from snellen.engine.ask.task_answers import TaskScores, draw_answer, draw_truth, move_of, score_answers
from snellen.engine.keep.failures import Failure, ask_one_by_one, check_failed, check_unreadable
from snellen.engine.keep.store import truth_key
from snellen.engine.requests.cell import BoundCell
from snellen.engine.requests.map import BoundMap
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.adapters.predictions import recorded_answers
from snellen.models.labels import AnswerReading
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor

THUMBNAILS = 24


@dataclass
class Trace:
    """What the cells that are shown the same pixels yield, batch by batch; on the device until it is read."""

    group: Sequence[BoundCell]
    readings: dict[str, list[AnswerReading]] = field(default_factory=dict)
    covered: list[Tensor] = field(default_factory=list)
    object_covered: list[Tensor] = field(default_factory=list)
    notes: list[tuple[int, dict[str, np.ndarray]]] = field(default_factory=list)  # batch size and what was noted
    pictures: list[Tensor] = field(default_factory=list)
    extras: dict[str, list[Tensor]] = field(default_factory=dict)
    scores: dict[str, list[TaskScores]] = field(default_factory=dict)  # of other tasks, which have no readings
    drawings: dict[tuple[str, int], np.ndarray] = field(default_factory=dict)  # by thumbnail folder and row
    failures: dict[str, dict[int, Failure]] = field(default_factory=dict)  # by cell and row


@dataclass(frozen=True)
class AnsweredShard:
    """One answered shard: the slides without their images, the rows that are readable and those that are pictured.

    The traces and maps (by key) are on their way to the host; `wait` waits for them.
    """

    slides: Slides
    samples: Samples
    readable: np.ndarray
    pictured: Sequence[int]
    traces: Sequence[Trace]
    maps: Mapping[str, ShardMaps]
    wait: Callable[[], None]


def answer(slides: Slides, work: PassState) -> AnsweredShard:
    """Ask everything about one shard. Nothing waits for the device, which sends its results when the shard ends."""
    samples = work.data.samples.take(np.array(slides.positions))
    readable = np.array([not error for error in slides.errors], bool)
    pictured = [row for row, p in enumerate(slides.positions) if p in work.pictured and readable[row]]
    work.unreadable += [(sample, error) for sample, error in zip(samples.ids, slides.errors) if error]
    check_unreadable(work.unreadable, work.on, work.data)
    traces = []
    maps: dict[str, ShardMaps] = {}
    for canvas in slides.images:
        on_canvas = put_on_device(slides, canvas, samples.labels, work.device, work.task)
        for twins in _group_by_question([wanted for wanted in work.maps if wanted.canvas == canvas]):
            maps |= _maps_of(twins, on_canvas, work, map_under(twins[0], maps))
        for group in _group_by_shown([bound for bound in work.cells if bound.canvas == canvas]):
            traces.append(_show_group(group, on_canvas, work, pictured, map_under(group[0], maps)))
    wait = _send_to_host(traces, maps, work.device)
    return AnsweredShard(
        replace(slides, images={}, masks={}, label_maps={}), samples, readable, pictured, traces, maps, wait
    )


def _maps_of(
    twins: Sequence[BoundMap], on_canvas: CanvasSlides, work: PassState, needed: ShardMaps | None
) -> dict[str, ShardMaps]:
    """By key, the maps of this shard: the stored ones, or made now, those that differ in their bits alone at once.

    `needed` are the maps that the requests' own distortion needs; where one is missing, there is no map of the row. Stops where
    a model fails on too many images.
    """
    slides = on_canvas.slides
    stored = {wanted.key: work.read_maps(wanted.key, slides.positions) for wanted in twins}
    shard_maps = {key: maps for key, maps in stored.items() if maps is not None}
    missing = [wanted for wanted in twins if wanted.key not in shard_maps]
    if not missing:
        return shard_maps
    model = work.models[missing[0].subject.card.fingerprint]
    view, statistics = view_of(missing[0], on_canvas, work, needed), work.statistics_for(missing[0])
    unmapped = needed.errors if needed else {}
    for wanted, maps in zip(missing, make_maps(missing, model, on_canvas.images, view, work.batch, statistics)):
        errors = {row: error for row, error in {**maps.errors, **unmapped}.items() if not slides.errors[row]}
        ids = work.data.samples.ids
        failures = [Failure(wanted.key, ids[slides.positions[row]], error) for row, error in errors.items()]
        work.failures.setdefault(wanted.key, []).extend(failures)
        check_failed(work.failures[wanted.key], wanted, len(work.data))
        shard_maps[wanted.key] = replace(maps, errors=errors)
    work.on_answers(len(on_canvas.images) * missing[0].passes)
    return shard_maps


def _send_to_host(traces: Sequence[Trace], maps: dict[str, ShardMaps], device: torch.device) -> Callable[[], None]:
    """Send all results to the host in the background, behind the shard's last kernel and in front of the next shard's."""
    if device.type != "cuda":
        return lambda: None
    for trace in traces:
        for key, readings in trace.readings.items():
            trace.readings[key] = [AnswerReading(*(_to_host(parts)[0] for parts in zip(*readings)))]
        for key, scores in trace.scores.items():
            counts = _to_host([part.counts for part in scores if part.counts is not None])
            trace.scores[key] = [
                TaskScores(_to_host([part.score for part in scores])[0], counts[0] if counts else None)
            ]
        trace.extras = {key: _to_host(parts) for key, parts in trace.extras.items()}
        trace.covered, trace.object_covered = _to_host(trace.covered), _to_host(trace.object_covered)
        trace.pictures = _to_host(trace.pictures)
    for key, shard_maps in maps.items():
        maps[key] = replace(
            shard_maps, maps=shard_maps.maps.to("cpu", non_blocking=True) if shard_maps.new else shard_maps.maps
        )
    done = torch.cuda.Event()
    done.record()
    return done.synchronize


def _to_host(parts: Sequence[Tensor]) -> list[Tensor]:
    return [torch.cat(list(parts)).to("cpu", non_blocking=True)] if parts else []


def _show_group(
    group: Sequence[BoundCell],
    on_canvas: CanvasSlides,
    work: PassState,
    pictured: Sequence[int],
    needed: ShardMaps | None,
) -> Trace:
    """Show one distortion, batch by batch, to every model of the group; keep the pixels of the `pictured` rows.

    `needed` are the maps that the distortion needs; rows without one count as failures of the model.
    """
    lead = group[0]
    images, labels, slides = on_canvas.images, on_canvas.targets, on_canvas.slides
    view = view_of(lead, on_canvas, work, needed)
    unmapped = needed.errors if needed else {}
    trace = Trace(group)
    stop = 0
    while stop < len(images):
        start, stop = stop, min(stop + work.batch[lead.canvas], len(images))
        part = view.rows(start, stop)
        pixels, cover = show(lead.cell.as_distortion, images[start:stop], part)
        if lead.shown in work.new:
            _note_cover(lead.cell.as_distortion, cover, part, trace)
            if rows := [row - start for row in pictured if start <= row < stop]:
                trace.pictures.append(pixels[on_device(np.array(rows), pixels.device)])
        for bound in group:
            model = work.models[bound.subject.card.fingerprint]
            model = model if part.labels is None else model.about(part.keys, part.labels, bound.labels)
            if model.recorded is not None:
                reading = _recall(bound, model, work.data, slides.positions[start:stop], labels[start:stop])
            else:
                probabilities, errors = probabilities_of(bound, model, pixels, work)
                errors |= {row - start: error for row, error in unmapped.items() if start <= row < stop}
                if errors:
                    _note_failures(errors, start, bound, trace, work, slides)
                if not bound.classifies:
                    rows = [row for row in pictured if start <= row < stop]
                    _note_task(bound, _Shown(start, pixels, probabilities, part), on_canvas, trace, rows)
                    work.on_answers(stop - start)
                    continue
                reading = bound.labels.read(probabilities, labels[start:stop])
                if work.keep is not None:
                    trace.extras.setdefault(bound.key, []).append(_more(probabilities, work.keep))
                work.on_answers(stop - start)
            trace.readings.setdefault(bound.key, []).append(reading)
    return trace


class _Shown(NamedTuple):
    """A batch from row `start` on: its pixels as shown, the answers to them, and its view."""

    start: int
    pixels: Tensor
    answers: Tensor
    view: View


def _note_task(bound: BoundCell, shown: _Shown, on_canvas: CanvasSlides, trace: Trace, pictured: Sequence[int]) -> None:
    """Keep how right a model of another task is, and pictures of some answers and of what they should be."""
    assert on_canvas.truth is not None
    start, pixels, answers, view = shown
    move = move_of(bound.cell.as_distortion, view)
    truth = on_canvas.truth.at(slice(start, start + len(pixels)), move, pixels.shape[2:])
    scores = score_answers(bound, answers, truth)
    trace.scores.setdefault(bound.key, []).append(scores)
    for row in pictured:
        at = row - start
        of_row = truth.at(slice(at, at + 1))
        trace.drawings[bound.key, row] = draw_answer(bound, pixels[at], answers[at], of_row, float(scores.score[at]))
        if (true := draw_truth(of_row)) is not None:
            trace.drawings[truth_key(bound.shown), row] = true


def probabilities_of(bound: BoundCell, model: Model, pixels: Tensor, work: PassState) -> tuple[Tensor, dict[int, str]]:
    """The model's probabilities; a batch that it fails on is asked image by image, and its errors are kept by row. A model that
    tells itself which rows it fails on is asked once.

    They are where the images are: a callable answers on the CPU, whatever the device of the run is.
    """
    errors: dict[int, str] = {}
    try:
        if model.by_row is not None:
            probabilities, errors = model.by_row(pixels)
        else:
            probabilities = within_memory(model, model, pixels, work.batch, bound.canvas)
    except UserError:
        raise
    except Exception:  # whatever a user's model raises
        probabilities, errors = ask_one_by_one(model, pixels, bound.labels.outputs)
    return probabilities.to(pixels.device, non_blocking=True), errors


def _note_failures(
    errors: Mapping[int, str], start: int, bound: BoundCell, trace: Trace, work: PassState, slides: Slides
) -> None:
    """Keep which images a model failed on; stop where they are too many. Unreadable ones are listed as such."""
    for row, error in errors.items():
        if not slides.errors[start + row]:
            failure = Failure(bound.key, work.data.samples.ids[slides.positions[start + row]], error)
            trace.failures.setdefault(bound.key, {})[start + row] = failure
            work.failures.setdefault(bound.key, []).append(failure)
    check_failed(work.failures.get(bound.key, []), bound, len(work.data))


def _more(probabilities: Tensor, keep: str) -> Tensor:
    """What is kept beyond the best class: the five best [B, 5], or all log-probabilities [B, outputs] in half precision."""
    if keep == "top5":
        return probabilities.topk(min(5, probabilities.shape[1])).indices.to(torch.int32)
    return probabilities.clamp(min=torch.finfo(torch.float32).tiny).log().half()


def _note_cover(distortion: Distortion, cover: Tensor | None, view: View, trace: Trace) -> None:
    """Keep the covered share of each image, and of its object where masks are known."""
    trace.notes.append((len(view.keys), view.notes))
    if cover is None:
        return
    trace.covered.append(cover.flatten(1).sum(1, dtype=torch.int32) / (cover.shape[1] * cover.shape[2]))
    if view.masks is not None:
        mask = moved(distortion, view.masks, view).flatten(1)
        hidden = (cover.flatten(1) & mask).sum(1, dtype=torch.int32)
        trace.object_covered.append(hidden / mask.sum(1, dtype=torch.int32))


def _recall(bound: BoundCell, model: Model, data: Dataset, positions: Sequence[int], labels: Tensor) -> AnswerReading:
    """Answers looked up in a table of recorded ones."""
    ids = [data.samples.ids[position] for position in positions]
    rows = recorded_answers(model, str(bound.cell.distortion), bound.cell.seed, ids, data.classes, bound.on)
    columns = (torch.from_numpy(rows[c].to_numpy(np.float32).copy()) for c in ("confidence", "label_prob"))
    classes = torch.from_numpy(rows["pred"].to_numpy(np.int64).copy())
    return AnswerReading(classes, classes, *columns)


def _group_by_question(maps: Sequence[BoundMap]) -> list[list[BoundMap]]:
    """Maps that are made at once, together; what others rest on stays first."""
    groups: dict[tuple[Any, ...], list[BoundMap]] = {}
    for wanted in maps:
        groups.setdefault(wanted.question, []).append(wanted)
    return list(groups.values())


def _group_by_shown(cells: Sequence[BoundCell]) -> list[list[BoundCell]]:
    """Cells that are shown the same pixels, together."""
    groups: dict[str, list[BoundCell]] = {}
    for bound in cells:
        groups.setdefault(bound.shown, []).append(bound)
    return list(groups.values())
