"""Two processes with half a batch each learn what one learns with the whole."""

from __future__ import annotations

import importlib.util
import sys

import pytest
import torch

from snellen.errors import UserError
from snellen.models.checkpoint import load_state, read_card
from snellen.train.mixing import Targets
from snellen.train.processes import Team, assemble

from .processes import in_one_and_two_processes

SCRIPT = """
import sys, torch
from torch import nn
torch.set_num_threads(1)
from snellen.data import load_data
from snellen.models.zoo import NETWORKS
from snellen.train import Recipe, train
NETWORKS["plain"] = lambda classes: nn.Sequential(  # no BatchNorm: its statistics would be those of half the batch
    nn.Conv2d(3, 8, 5, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, classes))
data = load_data("phantom:train?size=28&n=160")
train(Recipe(arch="plain", mix="cutmix", epochs=3, batch_size=32, lr=0.05), data, sys.argv[1], device="cpu",
      test=load_data("phantom:test?size=28&n=60"))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("accelerate") is None, reason="needs accelerate: pip install snellen[train]"
)
def test_two_processes_have_the_loss_curve_and_weights_of_one_with_the_same_batch(tmp_path):
    in_one_and_two_processes(SCRIPT, tmp_path)
    name = "plain-cutmix-0.safetensors"
    one, two = read_card(tmp_path / "one" / name), read_card(tmp_path / "two" / name)
    assert (one["processes"], two["processes"]) == (1, 2)
    for first, second in zip(one["history"], two["history"], strict=True):
        for number in ("loss", "diversity", "mix_diversity"):
            assert second[number] == pytest.approx(first[number], abs=1e-4)
    before, after = load_state(tmp_path / "one" / name), load_state(tmp_path / "two" / name)
    assert all(torch.allclose(before[key], after[key], atol=1e-4) for key in before)


def test_the_shares_of_a_team_are_the_batch():
    images = torch.arange(8)
    targets = Targets(torch.arange(8), torch.arange(8) + 10, torch.arange(8) / 8)
    parts = [Team("cpu", rank, 4).share(images, targets) for rank in range(4)]
    assert torch.equal(torch.cat([part for part, _ in parts]), images)
    assert torch.equal(torch.cat([part.partner for _, part in parts]), targets.partner)
    assert torch.equal(torch.cat([part.weight for _, part in parts]), targets.weight)


def test_several_processes_without_accelerate_say_what_to_install(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(UserError, match=r"needs accelerate; pip install 'snellen\[train\]'"):
        assemble("cpu")
