"""Answering one shard: every model under every distortion while the images are in memory.

`answer` is a pure function of the slides and the work; executors only place it and make tables of what it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from snellen.data.dataset import Dataset, Samples
from snellen.distort import Distortion, View, moved, show
from snellen.distort.draws import on_device
from snellen.engine.ask.maps import ShardMaps, make_maps
from snellen.engine.ask.memory import within_memory
from snellen.engine.ask.pass_state import PassState, map_under, view_of, without_object
from snellen.engine.ask.slides import Slides
from snellen.engine.keep.failures import Failure, check_failed, check_unreadable, one_by_one
from snellen.engine.requests.cell import BoundCell
from snellen.engine.requests.map import BoundMap
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.adapters.predictions import recorded_answers
from snellen.models.labels import Reading
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor

THUMBNAILS = 24


@dataclass
class Trace:
    """What the cells that are shown the same pixels yield, batch by batch; on the device until somebody reads it."""

    group: Sequence[BoundCell]
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    covered: list[Tensor] = field(default_factory=list)
    object_covered: list[Tensor] = field(default_factory=list)
    notes: list[tuple[int, dict[str, np.ndarray]]] = field(default_factory=list)  # batch size and what was noted
    pictures: list[Tensor] = field(default_factory=list)
    kept: dict[str, list[Tensor]] = field(default_factory=dict)
    failed: dict[str, dict[int, Failure]] = field(default_factory=dict)  # by cell and row


@dataclass(frozen=True)
class Answered:
    """One shard, asked: the slides without their images, the rows that are readable and those that are pictured.

    The traces and maps (by key) are on their way to the host; `arrived` waits for them.
    """

    slides: Slides
    samples: Samples
    readable: np.ndarray
    pictured: Sequence[int]
    traces: Sequence[Trace]
    maps: Mapping[str, ShardMaps]
    arrived: Callable[[], None]


def answer(slides: Slides, work: PassState) -> Answered:
    """Ask everything about one shard. Nothing waits for the device, which sends its results when the shard ends."""
    samples = work.data.samples.take(np.array(slides.positions))
    readable = np.array([not error for error in slides.errors], bool)
    pictured = [row for row, p in enumerate(slides.positions) if p in work.pictured and readable[row]]
    work.unreadable += [(sample, error) for sample, error in zip(samples.ids, slides.errors) if error]
    check_unreadable(work.unreadable, work.on, len(work.data))
    traces = []
    maps: dict[str, ShardMaps] = {}
    for canvas, pixels in slides.images.items():
        images = pixels.to(work.device, non_blocking=True)
        labels = on_device(samples.labels, work.device)
        masks = slides.masks[canvas].to(work.device, non_blocking=True) if canvas in slides.masks else None
        empty = without_object(slides, canvas) if images.device.type != "cpu" else None
        for wanted in (one for one in work.maps if one.canvas == canvas):
            view = view_of(wanted, slides, samples.labels, work, masks, map_under(wanted, maps), empty)
            unmapped = maps[wanted.map.key].failed if wanted.map else {}
            maps[wanted.key] = _maps_of(wanted, images, view, work, slides, unmapped)
        for group in _by_shown([one for one in work.asked if one.canvas == canvas]):
            lead = group[0]
            view = view_of(lead, slides, samples.labels, work, masks, map_under(lead, maps), empty)
            unmapped = maps[lead.map.key].failed if lead.map else {}
            traces.append(_show_group(group, images, labels, view, work, slides, pictured, unmapped))
    arrived = _sent(traces, maps, work.device)
    return Answered(replace(slides, images={}, masks={}), samples, readable, pictured, traces, maps, arrived)


def _maps_of(
    wanted: BoundMap, images: Tensor, view: View, work: PassState, slides: Slides, unmapped: Mapping[int, str]
) -> ShardMaps:
    """The maps of this shard: the stored ones, or made now; stop where a model fails on too many images.

    `unmapped` are the rows without the map that the request's own distortion needs.
    """
    if (stored := work.held(wanted.key, slides.positions)) is not None:
        return stored
    model = work.models[wanted.subject.card.fingerprint]
    maps = make_maps(wanted, model, images, view, work.batch)
    readable = {row: error for row, error in {**maps.failed, **unmapped}.items() if not slides.errors[row]}
    ids = work.data.samples.ids
    failures = [Failure(wanted.key, ids[slides.positions[row]], error) for row, error in readable.items()]
    work.failed.setdefault(wanted.key, []).extend(failures)
    check_failed(work.failed[wanted.key], wanted, len(work.data))
    work.on_answers(len(images))
    return replace(maps, failed=readable)


def _sent(traces: Sequence[Trace], maps: dict[str, ShardMaps], device: torch.device) -> Callable[[], None]:
    """Send all results to the host in the background, behind the shard's last kernel and in front of the next shard's."""
    if device.type != "cuda":
        return lambda: None
    for trace in traces:
        for key, readings in trace.readings.items():
            trace.readings[key] = [Reading(*(_to_host(parts)[0] for parts in zip(*readings)))]
        trace.kept = {key: _to_host(parts) for key, parts in trace.kept.items()}
        trace.covered, trace.object_covered = _to_host(trace.covered), _to_host(trace.object_covered)
        trace.pictures = _to_host(trace.pictures)
    for key, one in maps.items():
        maps[key] = replace(one, maps=one.maps.to("cpu", non_blocking=True) if one.new else one.maps)
    done = torch.cuda.Event()
    done.record()
    return done.synchronize


def _to_host(parts: Sequence[Tensor]) -> list[Tensor]:
    return [torch.cat(list(parts)).to("cpu", non_blocking=True)] if parts else []


def _show_group(
    group: Sequence[BoundCell],
    images: Tensor,
    labels: Tensor,
    view: View,
    work: PassState,
    slides: Slides,
    pictured: Sequence[int],
    unmapped: Mapping[int, str],
) -> Trace:
    """Show one distortion, batch by batch, to every model of the group; keep the pixels of the `pictured` rows.

    `unmapped` are the rows without the map that the distortion needs, which count as failures of the model.
    """
    lead = group[0]
    trace = Trace(group)
    stop = 0
    while stop < len(images):
        start, stop = stop, min(stop + work.batch[lead.canvas], len(images))
        part = view.rows(start, stop)
        pixels, cover = show(lead.cell.as_distortion, images[start:stop], part)
        if lead.shown in work.new:
            _note_cover(lead.cell.as_distortion, cover, part, trace)
            if kept := [row - start for row in pictured if start <= row < stop]:
                trace.pictures.append(pixels[on_device(np.array(kept), pixels.device)])
        for one in group:
            model = work.models[one.subject.card.fingerprint]
            if model.recorded is not None:
                reading = _recalled(one, model, work.data, slides.positions[start:stop], labels[start:stop])
            else:
                probabilities, failed = probabilities_of(one, model, pixels, work)
                failed |= {row - start: error for row, error in unmapped.items() if start <= row < stop}
                if failed:
                    _note_failures(failed, start, one, trace, work, slides)
                reading = one.labels.read(probabilities, labels[start:stop])
                if work.keep is not None:
                    trace.kept.setdefault(one.key, []).append(_more(probabilities, work.keep))
                work.on_answers(stop - start)
            trace.readings.setdefault(one.key, []).append(reading)
    return trace


def probabilities_of(one: BoundCell, model: Model, pixels: Tensor, work: PassState) -> tuple[Tensor, dict[int, str]]:
    """The model's probabilities; a batch that it fails on is asked image by image, and what it said is kept by row."""
    try:
        return within_memory(model, model, pixels, work.batch, one.canvas), {}
    except UserError:
        raise
    except Exception:  # whatever somebody's model raises
        return one_by_one(model, pixels, one.labels.outputs)


def _note_failures(
    failed: Mapping[int, str], start: int, one: BoundCell, trace: Trace, work: PassState, slides: Slides
) -> None:
    """Keep which images a model failed on; stop where they are too many. Unreadable ones are listed as such."""
    for row, error in failed.items():
        if not slides.errors[start + row]:
            failure = Failure(one.key, work.data.samples.ids[slides.positions[start + row]], error)
            trace.failed.setdefault(one.key, {})[start + row] = failure
            work.failed.setdefault(one.key, []).append(failure)
    check_failed(work.failed.get(one.key, []), one, len(work.data))


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
    trace.covered.append(cover.flatten(1).sum(1, dtype=torch.float32) / (cover.shape[1] * cover.shape[2]))
    if view.masks is not None:
        mask = moved(distortion, view.masks, view).flatten(1)
        hidden = (cover.flatten(1) & mask).sum(1, dtype=torch.float32)
        trace.object_covered.append(hidden / mask.sum(1, dtype=torch.float32))


def _recalled(one: BoundCell, model: Model, data: Dataset, positions: Sequence[int], labels: Tensor) -> Reading:
    """Answers looked up in a table of recorded ones."""
    ids = [data.samples.ids[position] for position in positions]
    rows = recorded_answers(model, str(one.cell.distortion), one.cell.seed, ids, data.classes)
    columns = (torch.from_numpy(rows[c].to_numpy(np.float32).copy()) for c in ("confidence", "label_prob"))
    classes = torch.from_numpy(rows["pred"].to_numpy(np.int64).copy())
    return Reading(classes, classes, *columns)


def _by_shown(asked: Sequence[BoundCell]) -> list[list[BoundCell]]:
    """Cells that are shown the same pixels, together."""
    groups: dict[str, list[BoundCell]] = {}
    for one in asked:
        groups.setdefault(one.shown, []).append(one)
    return list(groups.values())
