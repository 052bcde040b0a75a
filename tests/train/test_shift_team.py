"""Two processes with half a batch each draw the same tuples, search once and learn what one process learns."""

from __future__ import annotations

import importlib.util

import pytest
import torch

from snellen.models.checkpoint import load_state, read_card

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
data = load_data("phantom:train?size=28&n=165")
for robust in ("rda(unit=sample)", "esda(updates=4, images=60, population=4, steps=1)", "ada(updates=4, steps=2, size=100)"):
    train(Recipe(arch="plain", epochs=3, batch_size=32, lr=0.05, robust=robust), data, sys.argv[1], device="cpu")
"""


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("accelerate") is None, reason="needs accelerate: pip install snellen[train]"
)
def test_two_processes_train_against_the_same_shifts_as_one(tmp_path):
    in_one_and_two_processes(SCRIPT, tmp_path)
    for name in ("rda", "esda", "ada"):
        file = f"plain-none-{name}-0.safetensors"
        one, two = (read_card(tmp_path / folder / file) for folder in ("one", "two"))
        assert (one["processes"], two["processes"]) == (1, 2)
        for first, second in zip(one["history"], two["history"], strict=True):
            assert second["loss"] == pytest.approx(first["loss"], abs=1e-4)
        before, after = load_state(tmp_path / "one" / file), load_state(tmp_path / "two" / file)
        assert all(torch.allclose(before[key], after[key], atol=1e-4) for key in before)
        assert one.get("transformations") == two.get("transformations")
    assert len(one["adversarial"]) == 3
    assert [row["distance"] for row in two["adversarial"]] == pytest.approx(
        [row["distance"] for row in one["adversarial"]], rel=1e-3
    )
    assert len(read_card(tmp_path / "two" / "plain-none-esda-0.safetensors")["transformations"]) == 3
