"""On a GPU: it learns, repeats itself to the bit, and goes on where it was stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from snellen.models.checkpoint import load_state, read_card
from snellen.train import Recipe, train
from snellen.train.batches import Feed, ahead
from snellen.train.device_dataset import remember
from snellen.train.draws import TrainDraws

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
RECIPE = Recipe(mix="cutmix", epochs=4, batch_size=32)


def same(first, second):
    one, two = load_state(first), load_state(second)
    return all(torch.equal(one[name], two[name]) for name in one)


def test_batches_made_ahead_are_the_batches(bars):
    for device in ("cpu", "cuda"):
        shown = remember(bars(256), torch.device(device))
        feed = Feed(RECIPE, shown, [0.0] * 3)
        plain = [(s, i.cpu(), t.own.cpu(), t.partner.cpu()) for s, i, t in feed.epoch(0, TrainDraws.of(1, 0))]
        early = [
            (s, i.cpu(), t.own.cpu(), t.partner.cpu())
            for s, i, t in ahead(feed.epoch(0, TrainDraws.of(1, 0)), torch.device(device))
        ]
        assert len(plain) == len(early) == 8
        assert all(a[0] == b[0] and all(torch.equal(x, y) for x, y in zip(a[1:], b[1:])) for a, b in zip(plain, early))


def test_it_learns_on_a_gpu(tmp_path, bars):
    recipe = replace(RECIPE, mix="none", epochs=6)
    (path,) = train(recipe, bars(600), tmp_path, test=bars(200, seed=1), device="cuda")
    assert read_card(path)["accuracy"] >= 0.9


ROBUST = ("none", "rda", "esda(updates=9, images=100, steps=2)", "ada(updates=5, steps=3, size=100)")


@pytest.mark.parametrize("robust", ROBUST)
def test_the_same_seed_gives_the_same_weights_on_a_gpu_stopped_or_not(tmp_path, bars, monkeypatch, robust):
    monkeypatch.setattr("snellen.train.state._SHARE", 1e9)

    def stop(progress):
        if progress.epoch == 2:
            raise KeyboardInterrupt

    data, recipe = bars(256), replace(RECIPE, robust=robust, mix="none" if robust.startswith("ada") else RECIPE.mix)
    (first,) = train(recipe, data, tmp_path / "a", device="cuda")
    (second,) = train(recipe, data, tmp_path / "b", device="cuda")
    with pytest.raises(KeyboardInterrupt):
        train(recipe, data, tmp_path / "c", device="cuda", progress=stop)
    (third,) = train(recipe, data, tmp_path / "c", device="cuda")
    assert same(first, second)
    assert same(first, third)


@pytest.mark.slow
def test_a_compiled_network_learns_the_same_roughly(tmp_path, bars):
    data = bars(256)
    (plain,) = train(RECIPE, data, tmp_path / "a", device="cuda")
    (compiled,) = train(RECIPE, data, tmp_path / "b", device="cuda", compile=True)
    one, two = (read_card(path)["history"][0]["loss"] for path in (plain, compiled))
    assert two == pytest.approx(one, abs=0.05)
