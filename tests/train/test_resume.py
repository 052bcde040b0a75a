"""A training that is killed goes on, and ends with the very weights of one that was not."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
import torch
from torch import nn

from snellen.errors import UserError
from snellen.models.checkpoint import load_state, read_card
from snellen.train import Recipe, train
from snellen.train.state import Saver

from ..gates import kill_when_held, run_unheld

RECIPE = Recipe(mix="cutmix", epochs=4, batch_size=16)


class Killed(Exception):
    pass


def killer(after):
    def hear(progress):
        if progress.epoch == after:
            raise Killed

    return hear


def same(first, second):
    one, two = load_state(first), load_state(second)
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


@pytest.fixture
def eager(monkeypatch):
    """Every epoch is saved, whatever it costs: what these tests are about does not hang on how fast a disk is."""
    monkeypatch.setattr("snellen.train.state._SHARE", 1e9)


@pytest.mark.parametrize("optimiser", ["sgd", "adam", "rmsprop"])
@pytest.mark.parametrize("after", [1, 3])
def test_a_run_killed_between_epochs_ends_with_the_same_weights_and_curves(tmp_path, bars, eager, optimiser, after):
    recipe, data, test = replace(RECIPE, optimiser=optimiser, lr=0.01), bars(64), bars(32, seed=1)
    (whole,) = train(recipe, data, tmp_path / "whole", test=test)
    with pytest.raises(Killed):
        train(recipe, data, tmp_path / "cut", test=test, progress=killer(after))
    assert [p.name for p in (tmp_path / "cut" / "state").iterdir()] == ["smallnet-cutmix-0.pt"]
    assert not list((tmp_path / "cut").glob("*.safetensors"))
    heard = []
    (again,) = train(recipe, data, tmp_path / "cut", test=test, progress=heard.append)
    assert [p.epoch for p in heard] == list(range(after + 1, 5))
    assert same(whole, again)
    assert same(whole.parent / "best" / whole.name, again.parent / "best" / again.name)

    def curve(path):
        return [{k: v for k, v in row.items() if k != "seconds"} for row in read_card(path)["history"]]

    assert curve(whole) == curve(again)
    assert not (tmp_path / "cut" / "state").exists()


class Noisy(nn.Module):
    """A network with noise inside, as dropout is: what it draws in training is listed."""

    def __init__(self, drawn: list[float]) -> None:
        super().__init__()
        self.linear, self.drawn = nn.Linear(3, 2), drawn

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        noise = torch.rand(()) if self.training else torch.zeros(())
        self.drawn.append(float(noise))
        return self.linear(images.mean((2, 3)) + noise)


def test_dropout_draws_anew_in_every_epoch_and_goes_on_after_a_kill(tmp_path, bars, eager, monkeypatch):
    drawn: list[float] = []
    monkeypatch.setattr("snellen.train.loop.build", lambda arch, classes: Noisy(drawn))
    recipe = replace(RECIPE, mix="none", epochs=3, batch_size=32)
    train(recipe, bars(64), tmp_path / "whole")
    whole = list(drawn)
    assert len(set(whole)) == 6  # two batches in each of three epochs
    drawn.clear()
    with pytest.raises(Killed):
        train(recipe, bars(64), tmp_path / "cut", progress=killer(1))
    train(recipe, bars(64), tmp_path / "cut")
    assert drawn == whole


def test_a_state_that_is_lost_or_older_only_costs_time(tmp_path, bars, eager):
    data = bars(64)
    (whole,) = train(RECIPE, data, tmp_path / "whole")
    for number, after in enumerate((1, 2)):
        with pytest.raises(Killed):
            train(RECIPE, data, tmp_path / "cut", progress=killer(after))
        if number == 0:
            older = (tmp_path / "cut" / "state" / "smallnet-cutmix-0.pt").read_bytes()
    (tmp_path / "cut" / "state" / "smallnet-cutmix-0.pt").write_bytes(older)
    (again,) = train(RECIPE, data, tmp_path / "cut")
    assert same(whole, again)


def test_the_state_of_another_recipe_or_a_damaged_one_is_refused(tmp_path, bars, eager):
    with pytest.raises(Killed):
        train(RECIPE, bars(64), tmp_path, progress=killer(1))
    with pytest.raises(UserError, match=r"was begun otherwise \(lr 0.2 ≠ 0.1\); choose another folder or delete"):
        train(replace(RECIPE, lr=0.1), bars(64), tmp_path)
    (tmp_path / "state" / "smallnet-cutmix-0.pt").write_bytes(b"not a state")
    with pytest.raises(
        UserError, match=r"smallnet-cutmix-0.pt' is not a file of weights; .*; delete it to start again"
    ):
        train(RECIPE, bars(64), tmp_path)


def test_the_state_is_data_and_serves_as_a_checkpoint(tmp_path, bars, eager):
    with pytest.raises(Killed):
        train(RECIPE, bars(64), tmp_path, progress=killer(1))
    state = tmp_path / "state" / "smallnet-cutmix-0.pt"
    assert set(torch.load(state, weights_only=True)) == {"identity", "epoch", "model", "optimiser", "history"}
    assert load_state(state)["linear.weight"].shape == (2, 96)
    (path,) = train(replace(RECIPE, mix="none", epochs=1), bars(64), tmp_path / "more", init=state)
    assert read_card(path)["init"]


def test_saving_takes_a_small_share_of_the_time(tmp_path):
    saver = Saver(tmp_path / "a.pt", {})
    saver.save(1, {})
    saver._cost = 1000.0
    saver.save(2, {})
    assert saver.saved == 1
    saver._cost = 0.0
    saver.save(3, {})
    assert saver.saved == 3


def test_a_loss_that_is_lost_later_leaves_the_last_good_state(tmp_path, bars, eager):
    recipe = replace(RECIPE, mix="none", lr=1e30, schedule="onecycle(0)")
    good = replace(recipe, lr=1e-6)

    def spoilt(self, step, steps, per_epoch):
        return 1e36 if step >= 2 * per_epoch else 1.0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("snellen.train.schedule.Onecycle.__call__", spoilt)
        with pytest.raises(UserError, match=r"in epoch [34], batch \d;.* the state after epoch [23] is kept in '.*pt'"):
            train(good, bars(64), tmp_path)
    weights = load_state(tmp_path / "state" / "smallnet-none-0.pt")
    assert all(torch.isfinite(w).all() for w in weights.values() if w.is_floating_point())


SCRIPT = """
import sys, torch
torch.set_num_threads(1)
from snellen.data import load_data
from snellen.train import Recipe, train
hear = lambda progress: hold() if progress.epoch == 3 else None
train(Recipe(epochs=6, batch_size=16), load_data("phantom:train?size=28&n=64"), sys.argv[1], progress=hear)
"""


@pytest.mark.slow
def test_sigkill_in_the_middle_changes_nothing(tmp_path):
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    run_unheld(SCRIPT, tmp_path / "whole", env=env)
    kill_when_held(SCRIPT, tmp_path / "cut", env=env)
    assert (tmp_path / "cut" / "state" / "smallnet-none-0.pt").exists()
    run_unheld(SCRIPT, tmp_path / "cut", env=env)
    name = "smallnet-none-0.safetensors"
    assert same(tmp_path / "whole" / name, tmp_path / "cut" / name)
