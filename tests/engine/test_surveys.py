"""Surveys carried out: each walks over the data of its own cell, with that cell's seed, and is stored when it ends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from snellen.data.canvas import Canvas
from snellen.engine.ask.surveys import run_surveys
from snellen.engine.inputs import NO_POOLS
from snellen.engine.keep.store import Store
from snellen.engine.progress import RunProgress
from snellen.engine.requests.survey import Ground, SurveyTable
from snellen.engine.settings import Settings

DATA: dict[str, Any] = {"test": range(5), "train": range(9)}
CANVAS = Canvas(8, 8, "native")


def walk(ground: Ground) -> SurveyTable:
    """Stands for a survey: it keeps a checkpoint and tells what it was given."""
    assert ground.checkpoint is not None
    ground.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    ground.checkpoint.write_bytes(b"sums")
    row = {"unit": 0, "seed": ground.seed, "images": len(ground.data), "model": ground.model, "batch": ground.batch}
    return SurveyTable([row], {"layer": ["last"]})


def bound(key: str, on: str, seed: int) -> Any:
    subject = SimpleNamespace(name=key, run="0", model=lambda device: f"{key} on {device}")
    request = SimpleNamespace(walks=1, run=walk)
    return SimpleNamespace(
        key=key, on=on, seed=seed, subject=subject, canvas=CANVAS, cell=SimpleNamespace(as_survey=request)
    )


def test_each_survey_has_the_model_the_data_and_the_seed_of_its_own_cell(tmp_path: Path) -> None:
    store, surveys = Store(tmp_path), [bound("first", "test", 3), bound("second", "train", 4)]
    settings = Settings(batch_size=2)
    plan: Any = SimpleNamespace(open_surveys=surveys, data=DATA, settings=settings, batch_for=lambda canvas: 2)
    run_surveys(plan, store, RunProgress(quiet=True), NO_POOLS)
    for one in surveys:
        table = store.survey(one.key)
        assert table is not None
        row = {"cell": one.key, "unit": 0, "seed": one.seed, "images": len(DATA[one.on]), "batch": 2}
        assert list(table.rows) == [{**row, "model": f"{one.key} on cpu"}]
        assert table.things == {"layer": ["last"]}
        assert not store.survey_checkpoint(one.key).exists()
