"""What a sweep asks: the same as one audit a point and test, nothing twice, and nothing again when it goes on."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import snellen
from snellen.data import Dataset, load_data
from snellen.models.checkpoint import load_into, read_card, save_checkpoint
from snellen.models.model import Model
from snellen.models.zoo import build
from snellen.sweep import methods
from snellen.sweep.run_sweep import Left
from snellen.train import Recipe, train

IMAGES = 90
TEXTS = {f"bias-{bias}": f"phantom:test?size=24&n={IMAGES}&background_bias={bias}" for bias in (0, 0.5, 1)}


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, str]:
    """Two points, the first of two runs."""
    out = tmp_path_factory.mktemp("models")
    for name, bias, runs in (("plain", 0, 2), ("biased", 1, 1)):
        data = f"phantom:train?size=24&n=240&background_bias={bias}"
        train(Recipe(epochs=2, batch_size=32), data, out / name, runs)
    return {name: f"{out}/{name}/*.safetensors" for name in ("plain", "biased")}


@dataclass
class Seen:
    """What happened: how often each image of each test was decoded, networks loaded, images shown to them."""

    decoded: Counter[tuple[str, str]] = field(default_factory=Counter)
    loaded: int = 0
    shown: int = 0


@pytest.fixture
def seen(monkeypatch) -> Seen:
    held = Seen()
    call: Callable[..., object] = Model.__call__
    loading = load_into

    def counted_call(model: Model, images):
        held.shown += len(images)
        return call(model, images)

    def counted_load(*given):
        held.loaded += 1
        return loading(*given)

    monkeypatch.setattr(Model, "__call__", counted_call)
    monkeypatch.setattr("snellen.models.adapters.zoo.load_into", counted_load)
    return held


def watched(names: Sequence[str], seen: Seen) -> dict[str, Dataset]:
    """Tests that count what is decoded."""

    def counted(name: str) -> Dataset:
        data = load_data(TEXTS[name])
        ids = data.samples.ids

        def read(positions):
            seen.decoded.update((name, ids[position]) for position in positions)
            return data.read(positions)

        def read_together(positions):
            assert data.read_together is not None
            seen.decoded.update((name, ids[position]) for position in positions)
            return data.read_together(positions)

        return replace(data, read=read, read_together=read_together)

    return {name: counted(name) for name in names}


def test_the_numbers_are_those_of_one_audit_a_point_and_test(models, tmp_path: Path):
    found = methods(models, TEXTS, tmp_path / "sweep")
    for row in found.table().itertuples():
        alone = snellen.audit(
            {row.point: models[row.point]},
            TEXTS[row.test],
            [],
            tmp_path / "alone",
            report=False,
            quiet=True,
            fresh=True,
        )
        (folder,) = found.folder.glob(f"runs/{row.point}-on-{row.test}-*")
        stored = snellen.load_run(folder)
        clean = alone.predictions().query("distortion == 'none()'").reset_index(drop=True)
        pd.testing.assert_frame_equal(stored.predictions(), clean, check_exact=True)
        told = alone.findings().set_index("name").loc["accuracy"]
        assert (row.value, row.low, row.high) == (told["value"], told["low"], told["high"])


def test_nothing_is_decoded_loaded_or_asked_twice(models, tmp_path: Path, seen: Seen):
    methods(models, watched(list(TEXTS), seen), tmp_path)
    assert set(seen.decoded.values()) == {1}
    assert len(seen.decoded) == IMAGES * len(TEXTS)
    assert seen.loaded == 3
    assert seen.shown == 3 * len(TEXTS) * IMAGES


def test_a_sweep_that_goes_on_asks_only_what_is_missing(models, tmp_path: Path, seen: Seen):
    first, *others = TEXTS
    biased = {"biased": models["biased"]}
    methods(biased, watched([first], seen), tmp_path)
    assert (seen.shown, seen.loaded) == (IMAGES, 1)

    def left() -> Left:
        return methods(models, TEXTS, tmp_path, dry_run=True)

    assert (left().audits, left().audits_left) == (6, 5)
    whole = methods(models, watched(list(TEXTS), seen), tmp_path)
    assert seen.shown == 3 * len(TEXTS) * IMAGES
    assert seen.loaded == 1 + 3
    assert left().audits_left == 0
    seen.decoded.clear()
    again = methods(models, watched(list(TEXTS), seen), tmp_path)
    pd.testing.assert_frame_equal(again.table(), whole.table())
    assert (seen.shown, seen.loaded, len(seen.decoded)) == (3 * len(TEXTS) * IMAGES, 4, 0)
    (lost,) = (tmp_path / "runs").glob(f"biased-on-{others[0]}-*")
    shutil.rmtree(lost)
    assert left().audits_left == 1
    mended = methods(models, watched(list(TEXTS), seen), tmp_path)
    pd.testing.assert_frame_equal(mended.table(), whole.table())
    assert seen.shown == (3 * len(TEXTS) + 1) * IMAGES
    assert {name for name, _ in seen.decoded} == {others[0]}


def test_what_a_sweep_of_before_asked_under_noise_does_no_harm(models, tmp_path: Path, seen: Seen):
    """Sweeps asked the noise yardstick too: their folders go on without asking anything again."""
    (test,) = tests = list(TEXTS)[:1]
    new = methods({"biased": models["biased"]}, watched(tests, seen), tmp_path / "new")
    (folder,) = new.folder.glob("runs/*")
    before = tmp_path / "before" / "runs" / folder.name
    snellen.audit({"biased": models["biased"]}, TEXTS[test], [], before, report=False, quiet=True)
    shown = seen.shown
    again = methods({"biased": models["biased"]}, watched(tests, seen), tmp_path / "before")
    assert seen.shown == shown
    pd.testing.assert_frame_equal(again.table(), new.table())


def test_the_first_look_is_left_for_who_asks_more_in_the_same_folder(models, tmp_path: Path, seen: Seen):
    (test,) = tests = list(TEXTS)[:1]
    found = methods({"biased": models["biased"]}, watched(tests, seen), tmp_path)
    (folder,) = found.folder.glob("runs/*")
    assert json.loads((folder / "run.json").read_text())["preprocessing"] == {}
    before = seen.shown
    snellen.audit({"biased": models["biased"]}, TEXTS[test], [], folder, report=False, quiet=True)
    assert seen.shown >= before + 64
    assert len(json.loads((folder / "run.json").read_text())["preprocessing"]) == 1


def test_a_network_that_others_trained_is_looked_at(models, tmp_path: Path):
    """It has forgotten who trained it, and its mean and std are another's: the sweep's table tells."""
    (path,) = Path(models["biased"]).parent.glob("*.safetensors")
    card = read_card(path)
    network = load_into(build(card["arch"], len(card["classes"])), path)
    wrong = {"mean": [0.0] * 3, "std": [1 / 255] * 3}
    foreign = {name: card[name] for name in ("arch", "classes", "size")} | wrong
    save_checkpoint(tmp_path / "foreign.safetensors", network, foreign)
    own = {**card, **wrong}
    save_checkpoint(tmp_path / "own.safetensors", network, own)
    given = {name: str(tmp_path / f"{name}.safetensors") for name in ("foreign", "own")}
    table = methods({"foreign": given["foreign"]}, {"test": TEXTS["bias-1"]}, tmp_path / "a").table()
    assert "preprocessing" in table["warnings"][0].split()
    table = methods({"own": given["own"]}, {"test": TEXTS["bias-1"]}, tmp_path / "b").table()
    assert "preprocessing" not in table["warnings"][0].split()
    assert np.isfinite(table["value"][0])
