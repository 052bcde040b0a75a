"""From an answered shard to the rows of the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.data.dataset import Dataset, Samples
from snellen.engine.ask.maps import ShardMaps, table_of
from snellen.engine.ask.pass_state import PassState
from snellen.engine.ask.shard import AnsweredShard, Trace
from snellen.engine.ask.slides import Slides
from snellen.engine.ask.task_answers import TaskScores
from snellen.engine.keep.failures import Failure, nan_error, with_failures
from snellen.engine.keep.store import ShardTables
from snellen.engine.requests.cell import BoundCell
from snellen.lazy_torch import torch
from snellen.models.labels import AnswerReading

if TYPE_CHECKING:
    import pyarrow as pa


def tables_of(shard: AnsweredShard, work: PassState) -> ShardTables:
    """The tables of one shard; this waits for the device."""
    shard.wait()
    answers: dict[str, dict[str, np.ndarray]] = {}
    shown: dict[str, dict[str, np.ndarray]] = {}
    thumbs: dict[tuple[str, int], np.ndarray] = {}
    readable = shard.readable
    rows: dict[str, np.ndarray] = {}
    for trace in shard.traces:
        for bound in trace.group:
            rows[bound.key] = present = readable.copy()
            present[list(trace.failures.get(bound.key, ()))] = False
            if bound.key in trace.scores:
                answers[bound.key] = _task_columns(trace.scores[bound.key], present)
                continue
            answers[bound.key] = _answer_columns(bound, trace.readings[bound.key], shard.samples, present)
            if work.keep is not None:
                extras = trace.extras.get(bound.key) or [torch.empty((len(readable), 0))]
                answers[bound.key][work.keep] = torch.cat(extras).cpu().numpy()[present]
        key = trace.group[0].shown
        if key in work.new:
            shown[key] = _shown_columns(trace, readable)
            pictures = [picture for part in trace.pictures for picture in part.cpu().numpy()]
            thumbs |= {(key, shard.slides.positions[row]): picture for row, picture in zip(shard.pictured, pictures)}
        thumbs |= {(folder, shard.slides.positions[row]): drawing for (folder, row), drawing in trace.drawings.items()}
    ids = shard.samples.ids
    failures = [
        failure
        for trace in shard.traces
        for failures_by_row in trace.failures.values()
        for failure in failures_by_row.values()
    ]
    return ShardTables(
        with_failures(_table("cell", answers, ids, rows), failures),
        _table("shown", shown, ids, dict.fromkeys(shown, readable)),
        _samples_table(shard.slides, shard.samples, work.data, work.on),
        thumbs,
        {key: _map_table(key, maps, ids, readable) for key, maps in shard.maps.items() if maps.new},
    )


def _map_table(key: str, maps: ShardMaps, ids: Sequence[str], readable: np.ndarray) -> pa.Table:
    present = readable.copy()
    present[[*maps.errors, *maps.excluded]] = False
    failures = [Failure(key, ids[row], error) for row, error in maps.errors.items()]
    return table_of(maps.maps.cpu().numpy(), ids, present, failures)


def _answer_columns(
    bound: BoundCell, readings: list[AnswerReading], samples: Samples, readable: np.ndarray
) -> dict[str, np.ndarray]:
    pred, raw, confidence, label_prob = (torch.cat(parts).cpu().numpy() for parts in zip(*readings))
    card = bound.subject.card
    if card.live and not card.unsure and not np.isfinite(confidence[readable]).all():
        row = int(np.flatnonzero(readable & ~np.isfinite(confidence))[0])
        raise nan_error(bound.subject.name, samples.ids[row], bound.cell.distortion, float(confidence[row]))
    return {
        "pred": pred[readable].astype(np.int32),
        "raw": raw[readable].astype(np.int32),
        "score": np.where(samples.labels >= 0, pred == samples.labels, np.nan)[readable].astype(np.float32),
        "confidence": confidence[readable].astype(np.float32),
        "label_prob": label_prob[readable].astype(np.float32),
    }


def _task_columns(scores: Sequence[TaskScores], readable: np.ndarray) -> dict[str, np.ndarray]:
    """The columns of a model of another task: no class, the score, and for segmentation the counts of pixels: true positives
    of each class, then false positives, then false negatives."""
    score = torch.cat([part.score for part in scores]).cpu().numpy()[readable]
    none, unknown = np.full(len(score), -1, np.int32), np.full(len(score), np.nan, np.float32)
    columns = {
        "pred": none,
        "raw": none,
        "score": score.astype(np.float32),
        "confidence": unknown,
        "label_prob": unknown,
    }
    counts = [part.counts for part in scores if part.counts is not None]
    if counts:
        columns["counts"] = torch.cat(counts).transpose(1, 2).flatten(1).cpu().numpy()[readable].astype(np.int32)
    return columns


def _shown_columns(trace: Trace, readable: np.ndarray) -> dict[str, np.ndarray]:
    count = len(readable)
    covered, hidden = (
        torch.cat(parts).cpu().numpy() if parts else np.full(count, np.nan, np.float32)
        for parts in (trace.covered, trace.object_covered)
    )
    noted = {
        name: np.concatenate([notes.get(name, np.full(size, blank)) for size, notes in trace.notes])
        for name, blank in (("donor", ""), ("donor_class", ""), ("excluded", False))
    }
    return {
        "covered": covered[readable].astype(np.float32),
        "object_covered": hidden[readable].astype(np.float32),
        "donor": noted["donor"].astype(object)[readable],
        "donor_class": noted["donor_class"].astype(object)[readable],
        "excluded": noted["excluded"].astype(bool)[readable],
    }


def _table(
    word: str, blocks: Mapping[str, Mapping[str, np.ndarray]], ids: Sequence[str], present: Mapping[str, np.ndarray]
) -> pa.Table:
    """One table of the blocks (key → columns of the `present` rows) below each other.

    Key and sample are words of two dictionaries.
    """
    import pyarrow as pa

    rows = [np.flatnonzero(present[key]).astype(np.int32) for key in blocks]
    keys = np.repeat(np.arange(len(blocks), dtype=np.int32), [len(block) for block in rows])
    samples = np.concatenate([np.empty(0, np.int32), *rows])
    columns = {
        word: pa.DictionaryArray.from_arrays(keys, pa.array(list(blocks), pa.string())),
        "sample": pa.DictionaryArray.from_arrays(samples, pa.array(ids, pa.string())),
    }
    for name in next(iter(blocks.values()), {}):
        if name in ("top5", "logits", "counts"):
            columns[name] = pa.array([row for block in blocks.values() for row in block[name]])
            continue
        joined = np.concatenate([block[name] for block in blocks.values()])
        # The score of an image without a label is null, not nan, so that SQL leaves it out of means.
        columns[name] = pa.array(joined, pa.string() if joined.dtype == object else None, from_pandas=name == "score")
    return pa.table(columns)


def _samples_table(slides: Slides, samples: Samples, data: Dataset, on: str) -> pa.Table:
    import pyarrow as pa

    heights, widths = zip(*slides.sizes)
    columns: dict[str, Any] = {
        "on": [on] * len(samples),
        "sample": list(samples.ids),
        "label": samples.labels,
        "class": [data.classes[i] if i >= 0 else "" for i in samples.labels],
        "height": np.array(heights, np.int32),
        "width": np.array(widths, np.int32),
        "checksum": slides.checksums,
        "error": slides.errors,
    }
    for name, values in samples.columns.items():
        columns.setdefault(name, list(map(str, values)) if values.dtype == object else values)
    return pa.table({name: pa.array(values) for name, values in columns.items()})
