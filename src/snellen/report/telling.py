"""Telling images: the most confident mistakes of a model, and what only the best model gets.

The choice is made twice, with the same outcome: when an audit ends, so that pictures of these images are kept, and when a report
is written, from the stored answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from snellen.engine.keep.read_back import AnswerBlock
from snellen.engine.keep.shard_file import read_rows, read_schema, shard_files
from snellen.report.answers import cell_rows
from snellen.report.results import Results
from snellen.report.table import CLEAN

MISTAKES = 8  # images of a gallery
PER_LEVEL = 6  # images of a level of occlusion
PER_CLASS = 2  # of them of one class, as long as there are others


@dataclass(frozen=True)
class UnmodifiedAnswers:
    """One model's answers to the unmodified test images, over its runs.

    `wrong` bool [samples]: in every run; `right` bool [samples]: in every run; `confidence` [samples]: the mean; `labels`
    [samples].
    """

    ids: np.ndarray
    labels: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    confidence: np.ndarray

    @classmethod
    def of(cls, block: AnswerBlock) -> UnmodifiedAnswers:
        """Those of a block of answers, without what does not count."""
        valid = block.valid & np.isfinite(block.score).all(0)
        score, confidence = block.score[:, valid], block.confidence[:, valid]
        mean = np.asarray(confidence, np.float64).mean(0)
        return cls(block.ids[valid], block.labels[valid], (score == 1).all(0), (score == 0).all(0), mean)

    @property
    def accuracy(self) -> float:
        """The share of images that every run gets right."""
        return float(self.right.mean()) if len(self.right) else 0.0


def confident_mistakes(answers: UnmodifiedAnswers) -> list[str]:
    """The images that every run gets wrong, the surest first; of one class few as long as there are others."""
    return _surest(answers, answers.wrong)


def only_right(best: UnmodifiedAnswers, others: Sequence[UnmodifiedAnswers]) -> list[str]:
    """The images that every run of one model gets right and every run of all others wrong, the surest first."""
    missed = [set(other.ids[other.wrong].tolist()) for other in others]
    alone = np.array([all(sample in wrong for wrong in missed) for sample in best.ids.tolist()], bool)
    return _surest(best, best.right & alone)


def telling_samples(everyone: Mapping[str, UnmodifiedAnswers]) -> list[str]:
    """Every image that the galleries of these models show, once."""
    samples = [sample for answers in everyone.values() for sample in confident_mistakes(answers)]
    if (best := best_model(everyone)) is not None:
        others = [answers for model, answers in everyone.items() if model != best]
        samples += only_right(everyone[best], others)
    return list(dict.fromkeys(samples))


def best_model(everyone: Mapping[str, UnmodifiedAnswers]) -> str | None:
    """The model that gets most images right in every run, the first where several do; None for a single model."""
    if len(everyone) < 2:
        return None
    return max(everyone, key=lambda model: everyone[model].accuracy)


def _surest(answers: UnmodifiedAnswers, chosen: np.ndarray) -> list[str]:
    rows = np.flatnonzero(chosen)
    rows = rows[np.lexsort((answers.ids[rows].astype(str), -answers.confidence[rows]))]
    counts: dict[int, int] = {}
    early: list[int] = []
    late: list[int] = []
    for row in rows.tolist():
        label = int(answers.labels[row])
        counts[label] = counts.get(label, 0) + 1
        (early if counts[label] <= PER_CLASS else late).append(row)
        if len(early) == MISTAKES:
            break
    return [str(answers.ids[row]) for row in [*early, *late][:MISTAKES]]


def samples_by_level(ids: Sequence[str], labels: np.ndarray, levels: np.ndarray) -> dict[int, list[str]]:
    """Level of occlusion → some images of it, of the classes that most levels have, one of each; nothing of a single level."""
    known = np.asarray(levels)
    places = {level: np.flatnonzero(known == level) for level in sorted(set(known[known >= 0].tolist()))}
    if len(places) < 2:
        return {}
    shared = Counter(
        label for rows in places.values() for label in set(np.asarray(labels)[rows].tolist()) if label >= 0
    )
    order = {label: place for place, label in enumerate(sorted(shared, key=lambda label: (-shared[label], label)))}
    samples = {}
    for level, rows in places.items():
        first: dict[int, int] = {}
        for row in rows.tolist():
            if labels[row] in order:
                first.setdefault(int(labels[row]), row)
        chosen = sorted(first, key=lambda label: order[label])[:PER_LEVEL]
        samples[int(level)] = [str(ids[first[label]]) for label in chosen]
    return samples


# From the stored answers


def clean_answers(results: Results) -> dict[str, UnmodifiedAnswers]:
    """Each model's answers to the unmodified test images; empty of runs that stored no confidence, and of other tasks."""
    if results.task != "classification":
        return {}
    rows = {row.cell: row for row in cell_rows(results) if (row.on, row.distortion) == ("test", CLEAN)}
    labels = _labels(results)
    scores = _scores(results, list(rows))
    everyone: dict[str, UnmodifiedAnswers] = {}
    for model in results.models:
        runs = [scores[row.cell] for row in rows.values() if row.model == model and row.cell in scores]
        if runs:
            everyone[model] = _together(runs, labels)
    return everyone if len(everyone) == len(results.models) else {}


def _together(runs: Sequence[Mapping[str, tuple[float, float]]], labels: Mapping[str, int]) -> UnmodifiedAnswers:
    ids = [sample for sample in labels if all(sample in run for run in runs)]
    answers = np.array([[run[sample] for sample in ids] for run in runs], np.float64).reshape(len(runs), len(ids), 2)
    score, confidence = answers[..., 0], answers[..., 1]
    known = np.array([labels[sample] for sample in ids], np.int64)
    return UnmodifiedAnswers(np.array(ids, object), known, (score == 1).all(0), (score == 0).all(0), confidence.mean(0))


def _labels(results: Results) -> dict[str, int]:
    """Sample → label, of the test images that can be shown and have one, in the order of the listing."""
    labels: dict[str, int] = {}
    for file in shard_files(results.folder.path / "samples" / "test"):
        table = read_rows(file, ["sample", "label", "error"]).to_pydict()
        labels |= {
            sample: label
            for sample, label, error in zip(table["sample"], table["label"], table["error"])
            if label >= 0 and not error
        }
    return labels


def _scores(results: Results, cells: Sequence[str]) -> dict[str, dict[str, tuple[float, float]]]:
    """Cell → sample → score and confidence, where both are known."""
    import pyarrow.compute as pc

    scores: dict[str, dict[str, tuple[float, float]]] = {}
    for file in results.folder.store.answer_files(cells):
        if "confidence" not in read_schema(file).names:
            continue
        columns = ["cell", "sample", "score", "confidence"]
        table = read_rows(file, columns, filters=pc.field("cell").isin(list(cells)))
        known = table.filter(pc.and_(pc.is_finite(table["score"]), pc.is_finite(table["confidence"])))
        for cell, sample, score, confidence in zip(*(known[name].to_pylist() for name in columns)):
            scores.setdefault(cell, {})[sample] = (score, confidence)
    return scores
