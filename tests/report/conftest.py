"""Small runs made by code: toy answers through the real audits and the real store, without torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from snellen.audits import BaselineAudit, Exam, InterferenceAudit, OcclusionAudit, differences, with_trust
from snellen.engine import AnswerBlock, Answers, Cell, Store
from snellen.engine.keep.store import ShardTables
from snellen.exam.run import Run
from snellen.report import write_results

Answerer = Callable[[str, np.ndarray, int], np.ndarray]  # distortion text, labels, classes → predictions
ANIMALS = ("cat", "dog", "eel", "fox")


def steady(wrong: float) -> Answerer:
    """Wrong on a share of the images, whatever is done to them; the wrong answer is always the next class."""

    def answer(distortion: str, labels: np.ndarray, classes: int) -> np.ndarray:
        missed = np.arange(len(labels)) >= round(len(labels) * (1 - wrong))
        return np.where(missed, (labels + 1) % classes, labels)

    return answer


def falls_for(name: int, trigger: str, wrong: float = 0.1) -> Answerer:
    """As `steady`, but every distortion whose text holds `trigger` is answered with one class."""

    def answer(distortion: str, labels: np.ndarray, classes: int) -> np.ndarray:
        return np.full(len(labels), name) if trigger in distortion else steady(wrong)(distortion, labels, classes)

    return answer


@dataclass(frozen=True)
class Toy:
    """A run to be made; `models` gives each model one answerer per run."""

    models: Mapping[str, Sequence[Answerer]]
    classes: Sequence[str] = ANIMALS
    samples: int = 120
    unreadable: Sequence[int] = ()
    notices: Sequence[str] = ()
    command: Sequence[str] = ("snellen", "audit", "zoo:toy", "--data", "folder:my pets")
    side: int = 8
    prefix: str = "pet"
    shard: int = 50
    others: Sequence[str] = ()  # classes of the models that are none of the data's; answers −1, −2, … name them
    audits: Sequence[Any] = field(default_factory=lambda: (BaselineAudit(), OcclusionAudit(), InterferenceAudit()))


def make_run(folder: Path, toy: Toy) -> Run:
    """The run folder that such an audit would have left."""
    labels = np.arange(toy.samples) % len(toy.classes)
    ids = [f"{toy.prefix}-{i}" for i in range(toy.samples)]
    exam = Exam(classes={"test": toy.classes}, side=32)
    cells = list(dict.fromkeys(cell for audit in toy.audits for cell in audit.cells(exam)))
    readable = ~np.isin(np.arange(toy.samples), toy.unreadable)
    store = Store(folder)
    store.write_facts(_facts(toy))
    findings, rows, answers, everyone = [], [], [], []
    for model, runs in toy.models.items():
        blocks = {}
        for number, cell in enumerate(cells):
            pred = np.stack([run(str(cell.distortion), labels, len(toy.classes)) for run in runs])
            blocks[cell] = _block(np.maximum(pred, -1), labels, readable, ids, cell)
            for run, given in zip(_runs(model, runs), pred):
                key = f"{model}/{run}/{number}"
                rows.append(_cell_row(key, f"shown{number:02d}", model, run, cell))
                answers.append((key, given))
        held = Answers(model, _runs(model, runs), blocks, {"test": toy.classes})
        everyone.append(held)
        for audit in toy.audits:
            findings += with_trust(exam, held, audit.conclude(exam, held))
    store.add_cells(rows)
    name = store.begin_pass("test", {row["cell"]: row["shown"] for row in rows})
    for shard, part in enumerate(np.array_split(np.arange(toy.samples), range(toy.shard, toy.samples, toy.shard))):
        store.write_shard(name, "test", shard, _tables(toy, part, labels, ids, readable, answers, len(cells)))
    run = Run(folder)
    write_results(run, findings + differences(exam, everyone, findings))
    return run


def _runs(model: str, runs: Sequence[Any]) -> list[str]:
    return [f"{model}-{i}" for i in range(len(runs))]


def _block(pred: np.ndarray, labels: np.ndarray, readable: np.ndarray, ids: list[str], cell: Cell) -> AnswerBlock:
    score = np.where(readable, pred == labels, np.nan).astype(np.float32)
    area = getattr(cell.distortion, "area", np.nan)
    covered = np.full(len(labels), area if isinstance(area, float) else np.nan, np.float32)
    return AnswerBlock(pred, pred, score, score, score, labels, covered, readable, np.array(ids, object))


def _cell_row(key: str, shown: str, model: str, run: str, cell: Cell) -> dict[str, Any]:
    return {
        "cell": key, "shown": shown, "model": model, "run": run, "on": cell.on, "data": "folder:my pets",
        "distortion": str(cell.distortion), "version": "1", "seed": cell.seed, "canvas": "8x8", "precision": "fp32",
        "rule": "argmax", "model_fingerprint": "0", "data_fingerprint": "0",
    }  # fmt: skip


def _tables(
    toy: Toy, part: np.ndarray, labels: np.ndarray, ids: list[str], readable: np.ndarray, answers: list, distorted: int
) -> ShardTables:
    noise = np.random.default_rng(int(part[0]))
    names = [ids[i] for i in part]
    score = [np.where(readable[part], given[part] == labels[part], np.nan) for _, given in answers]
    samples = pa.table(
        {
            "sample": names,
            "label": labels[part],
            "class": [toy.classes[labels[i]] for i in part],
            "checksum": names,
            "error": ["" if readable[i] else "not an image" for i in part],
        }
    )
    table = pa.table(
        {
            "cell": [key for key, _ in answers for _ in part],
            "sample": names * len(answers),
            "pred": np.concatenate([np.maximum(given[part], -1) for _, given in answers]).astype(np.int32),
            "raw": np.concatenate([_raw(given[part], toy) for _, given in answers]).astype(np.int32),
            "score": np.concatenate(score).astype(np.float32),
        }
    )
    pictured = [int(i) for i in part if i < 24]
    size = (3, toy.side, toy.side)
    thumbs = {(f"shown{c:02d}", i): noise.integers(0, 256, size, np.uint8) for i in pictured for c in range(distorted)}
    return ShardTables(table, pa.table({"shown": pa.array([], pa.string())}), samples, thumbs)


def _raw(given: np.ndarray, toy: Toy) -> np.ndarray:
    """The answers as places among the model's own classes: those of the data, then the others."""
    return np.where(given < 0, len(toy.classes) - 1 - given, given)


def _facts(toy: Toy) -> dict[str, Any]:
    card = {"text": "zoo:toy", "fingerprint": "abc123", "classes": [*toy.classes, *toy.others], "notices": []}
    return {
        "schema": 1,
        "snellen": "0.0.test",
        "created": "2026-01-02T03:04:05+00:00",
        "updated": "2026-01-02T03:04:05+00:00",
        "command": list(toy.command),
        "python": "3.11",
        "packages": {"numpy": "2"},
        "hardware": {"machine": "abacus", "cores": 1},
        "settings": {
            "seed": 0, "limit": None, "device": "cpu", "precision": "fp32", "batch_size": None, "shard": toy.shard,
            "threads": 1,
        },
        "asked": {model: _runs(model, runs) for model, runs in toy.models.items()},
        "models": {model: dict.fromkeys(_runs(model, runs), card) for model, runs in toy.models.items()},
        "data": {
            "test": {
                "text": "folder:my pets", "fingerprint": "d00d", "samples": toy.samples, "classes": list(toy.classes),
            }
        },
        "audits": ["baseline()"],
        "notices": list(toy.notices),
    }  # fmt: skip


@pytest.fixture(scope="session")
def toy_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Toy], Run]:
    """Makes toy runs, each in a folder of its own."""
    return lambda toy: make_run(tmp_path_factory.mktemp("run"), toy)


@pytest.fixture(scope="session")
def calm(toy_run: Callable[[Toy], Run]) -> Run:
    """One model, one run, no distortion changes anything."""
    return toy_run(Toy({"calm": [steady(0.1)]}))


@pytest.fixture(scope="session")
def fooled(toy_run: Callable[[Toy], Run]) -> Run:
    """Two models of three runs: `naive` answers `eel` under every black square, `wise` does not."""
    naive = [falls_for(2, "fill=black", wrong) for wrong in (0.1, 0.1, 0.12)]
    return toy_run(Toy({"naive": naive, "wise": [steady(0.1), steady(0.1), steady(0.2)]}))
