"""Answering one shard: every model under every distortion while the images are in memory.

`answer` is a pure function of the slides and the work; executors only place it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data.canvas import Canvas
from snellen.data.dataset import Dataset
from snellen.distort import Donors, View, moved, show
from snellen.engine.cell import Asked
from snellen.engine.slides import Slides
from snellen.engine.store import ShardTables
from snellen.errors import UserError
from snellen.lazy import torch
from snellen.models.labels import Reading
from snellen.models.model import Model

if TYPE_CHECKING:
    import pyarrow as pa
    from torch import Tensor

THUMBNAILS = 24


@dataclass
class Work:
    """What is to be answered on one dataset: the cells, the loaded models and what distortions may know.

    `batch` may shrink while running, when a device's memory is too small for it.
    """

    on: str
    data: Dataset
    asked: Sequence[Asked]
    models: Mapping[str, Model]  # by model fingerprint
    batch: dict[Canvas, int]
    device: Any
    new: frozenset[str] = frozenset()
    donors: Mapping[Canvas, Donors] = field(default_factory=dict)
    pictured: frozenset[int] = frozenset()
    on_answers: Callable[[int], None] = lambda images: None


def answer(slides: Slides, work: Work) -> ShardTables:
    """The tables of one shard."""
    taken = work.data.samples.take(np.array(slides.positions))
    readable = np.array([not error for error in slides.errors], bool)
    pictured = [row for row, p in enumerate(slides.positions) if p in work.pictured and readable[row]]
    answers: dict[str, dict[str, np.ndarray]] = {}
    shown: dict[str, dict[str, np.ndarray]] = {}
    thumbs: dict[tuple[str, int], np.ndarray] = {}
    for canvas, images in slides.images.items():
        images = images.to(work.device, non_blocking=True)
        labels = torch.from_numpy(taken.labels).to(work.device)
        for group in _by_shown([one for one in work.asked if one.canvas == canvas]):
            lead = group[0]
            view = View(
                keys=slides.keys,
                seed=lead.cell.seed,
                device=images.device,
                labels=taken.labels,
                masks=slides.masks[canvas].to(work.device) if canvas in slides.masks else None,
                boxes=slides.boxes.get(canvas),
                mean=lead.subject.card.fill,
                donors=work.donors.get(canvas),
            )
            trace = _show_group(group, images, labels, view, work, slides.positions, pictured)
            for one in group:
                answers[one.key] = _answer_columns(one, trace.readings[one.key], taken, readable)
            if lead.shown in work.new:
                shown[lead.shown] = _shown_columns(trace, readable)
                pictures = [picture for part in trace.pictures for picture in part.cpu().numpy()]
                thumbs |= {(lead.shown, slides.positions[row]): one for row, one in zip(pictured, pictures)}
    return ShardTables(
        _table("cell", answers, taken.ids, readable),
        _table("shown", shown, taken.ids, readable),
        _samples_table(slides, work.data, work.on),
        thumbs,
    )


@dataclass
class _Trace:
    """What one group of cells with the same distorted images yields; on the device until the shard ends."""

    readings: dict[str, list[Reading]] = field(default_factory=dict)
    covered: list[Tensor] = field(default_factory=list)
    object_covered: list[Tensor] = field(default_factory=list)
    notes: list[dict[str, np.ndarray]] = field(default_factory=list)
    pictures: list[Tensor] = field(default_factory=list)


def _show_group(
    group: Sequence[Asked],
    images: Tensor,
    labels: Tensor,
    view: View,
    work: Work,
    positions: range,
    pictured: Sequence[int],
) -> _Trace:
    """Show one distortion, batch by batch, to every model of the group; keep the pixels of the `pictured` rows."""
    lead = group[0]
    trace = _Trace()
    stop = 0
    while stop < len(images):
        start, stop = stop, min(stop + work.batch[lead.canvas], len(images))
        part = view.rows(start, stop)
        pixels, cover = show(lead.cell.distortion, images[start:stop], part)
        if lead.shown in work.new:
            _note_cover(lead.cell.distortion, cover, part, trace)
            if kept := [row - start for row in pictured if start <= row < stop]:
                trace.pictures.append(pixels[kept])
        for one in group:
            model = work.models[one.subject.card.fingerprint]
            if model.recorded is not None:
                reading = _recalled(one, model, work.data, positions[start:stop], labels[start:stop])
            else:
                reading = one.labels.read(_asked_within_memory(model, pixels, work, lead.canvas), labels[start:stop])
                work.on_answers(stop - start)
            trace.readings.setdefault(one.key, []).append(reading)
    return trace


def _asked_within_memory(model: Model, pixels: Tensor, work: Work, canvas: Canvas) -> Tensor:
    """The model's probabilities; where memory runs out the batch is halved, for this and later batches."""
    try:
        return model(pixels)
    except torch.OutOfMemoryError:
        if len(pixels) == 1:
            raise UserError(f"not even one image fits into memory with model '{model.name}'") from None
    half = (len(pixels) + 1) // 2
    work.batch[canvas] = min(work.batch[canvas], half)
    torch.cuda.empty_cache()
    return torch.cat([_asked_within_memory(model, part, work, canvas) for part in (pixels[:half], pixels[half:])])


def _note_cover(distortion: Any, cover: Tensor | None, view: View, trace: _Trace) -> None:
    """Keep the covered share of each image, and of its object where masks are known."""
    trace.notes.append(view.notes)
    if cover is None:
        return
    trace.covered.append(cover.flatten(1).sum(1, dtype=torch.float32) / (cover.shape[1] * cover.shape[2]))
    if view.masks is not None:
        mask = moved(distortion, view.masks, view).flatten(1)
        hidden = (cover.flatten(1) & mask).sum(1, dtype=torch.float32)
        trace.object_covered.append(hidden / mask.sum(1, dtype=torch.float32))


def _recalled(one: Asked, model: Model, data: Dataset, positions: Sequence[int], labels: Tensor) -> Reading:
    """Answers looked up in a table of recorded ones."""
    assert model.recorded is not None
    index = [(str(one.cell.distortion), one.cell.seed, data.samples.ids[p]) for p in positions]
    rows = model.recorded.reindex(index)
    if rows["pred"].isna().any():
        distortion, _, sample = index[int(np.flatnonzero(rows["pred"].isna())[0])]
        raise UserError(
            f"'{one.subject.card.text}' has no answer for sample '{sample}' under {distortion}, seed {one.cell.seed}; "
            "add it, or ask only for audits whose distortions it answers"
        )
    names = {name: i for i, name in enumerate(data.classes)}
    pred = [names[str(p)] if str(p) in names else int(float(p)) for p in rows["pred"]]
    columns = (torch.from_numpy(rows[c].to_numpy(np.float32).copy()) for c in ("confidence", "label_prob"))
    classes = torch.tensor(pred)
    return Reading(classes, classes, *columns)


def _by_shown(asked: Sequence[Asked]) -> list[list[Asked]]:
    """Cells that are shown the same pixels, together."""
    groups: dict[str, list[Asked]] = {}
    for one in asked:
        groups.setdefault(one.shown, []).append(one)
    return list(groups.values())


def _answer_columns(one: Asked, readings: list[Reading], taken: Any, readable: np.ndarray) -> dict[str, np.ndarray]:
    pred, raw, confidence, label_prob = (torch.cat(parts).cpu().numpy() for parts in zip(*readings))
    if not np.isfinite(confidence[readable]).all() and one.subject.card.text.partition(":")[0] != "predictions":
        sample = taken.ids[int(np.flatnonzero(readable & ~np.isfinite(confidence))[0])]
        raise UserError(f"model '{one.subject.name}' answered nan for sample '{sample}' under {one.cell.distortion}")
    return {
        "pred": pred[readable].astype(np.int32),
        "raw": raw[readable].astype(np.int32),
        "score": (pred == taken.labels)[readable].astype(np.float32),
        "confidence": confidence[readable].astype(np.float32),
        "label_prob": label_prob[readable].astype(np.float32),
    }


def _shown_columns(trace: _Trace, readable: np.ndarray) -> dict[str, np.ndarray]:
    count = len(readable)
    covered, hidden = (
        torch.cat(parts).cpu().numpy() if parts else np.full(count, np.nan, np.float32)
        for parts in (trace.covered, trace.object_covered)
    )
    noted = {
        name: np.concatenate([notes.get(name, np.full(1, blank)) for notes in trace.notes])
        if any(name in notes for notes in trace.notes)
        else np.full(count, blank)
        for name, blank in (("donor", ""), ("excluded", False))
    }
    return {
        "covered": covered[readable].astype(np.float32),
        "object_covered": hidden[readable].astype(np.float32),
        "donor": noted["donor"].astype(object)[readable],
        "excluded": noted["excluded"].astype(bool)[readable],
    }


def _table(
    word: str, blocks: Mapping[str, Mapping[str, np.ndarray]], ids: Sequence[str], readable: np.ndarray
) -> pa.Table:
    """One table of the blocks (key → columns) below each other; key and sample are words of two dictionaries."""
    import pyarrow as pa

    rows = np.flatnonzero(readable).astype(np.int32)
    keys = np.repeat(np.arange(len(blocks), dtype=np.int32), len(rows))
    columns = {
        word: pa.DictionaryArray.from_arrays(keys, pa.array(list(blocks), pa.string())),
        "sample": pa.DictionaryArray.from_arrays(np.tile(rows, len(blocks)), pa.array(ids, pa.string())),
    }
    for name in next(iter(blocks.values()), {}):
        joined = np.concatenate([block[name] for block in blocks.values()])
        columns[name] = pa.array(joined, pa.string() if joined.dtype == object else None)
    return pa.table(columns)


def _samples_table(slides: Slides, data: Dataset, on: str) -> pa.Table:
    import pyarrow as pa

    taken = data.samples.take(np.array(slides.positions))
    heights, widths = zip(*slides.sizes)
    columns: dict[str, Any] = {
        "on": [on] * len(taken),
        "sample": list(taken.ids),
        "label": taken.labels,
        "class": [data.classes[i] if i >= 0 else "" for i in taken.labels],
        "height": np.array(heights, np.int32),
        "width": np.array(widths, np.int32),
        "checksum": slides.checksums,
        "error": slides.errors,
    }
    for name, values in taken.columns.items():
        columns.setdefault(name, values.astype(str) if values.dtype == object else values)
    return pa.table({name: pa.array(values) for name, values in columns.items()})
