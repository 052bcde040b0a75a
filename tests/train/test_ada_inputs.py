"""The script that tests why hues break ADA: what it measures by networks whose answer is known, and its updates by torch's."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from snellen.train.normalise import Normalise

from .replication_scripts import SCRIPTS, script

UNIT = Normalise([0.0] * 3, [1.0] * 3).on(torch.device("cpu"))


class ByBrightest(nn.Module):
    """Class 1 where the brightest channel is above a half: no shift of hue or saturation changes that channel."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        bright = images.amax((1, 2, 3)) - 0.5
        return torch.stack([-bright, bright], 1)


class ByGrey(nn.Module):
    """Class 1 where red and green are alike: grey images are, coloured ones are not."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        apart = (images[:, 0] - images[:, 1]).abs().amax((1, 2)) - 0.01
        return torch.stack([apart, -apart], 1)


@pytest.mark.parametrize(("network", "fooled"), [(ByBrightest(), 0), (ByGrey(), 1)])
def test_shifted_hues_fool_a_network_that_reads_colours_and_none_that_reads_brightness(network, fooled):
    asked = script("grey_digits")
    digits = asked.Digits(torch.full((6, 3, 4, 4), 200, dtype=torch.uint8), torch.ones(6, dtype=torch.int64))
    answers = asked.Answers(network, UNIT, True)
    assert answers.accuracy(digits) == 1
    assert asked.hue_fooled(answers, digits, 60, seed=0).float().mean() == fooled


def test_the_colour_of_offsets_is_what_differs_between_channels():
    ada = script("ada_inputs")
    grey = torch.ones(2, 3, 4, 4).half()
    coloured = torch.tensor([1.0, -1.0, 0.0]).view(1, 3, 1, 1).expand(2, 3, 4, 4).half()
    assert ada.colour_share(grey) == 0
    assert ada.colour_share(coloured) == 1
    assert ada.colour_share(grey + coloured) == pytest.approx(2 / 5)  # squares of 2, 0, 1 less those of 1, 1, 1


def test_an_update_is_that_of_adam_on_the_mean_loss_and_a_version_is_the_image_with_its_offset():
    learner_of = script("graph_training").Learner
    images = torch.randint(0, 256, (32, 3, 2, 2), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(32) % 3

    def linear() -> nn.Module:
        torch.manual_seed(0)
        return nn.Sequential(nn.Flatten(), nn.Linear(12, 3))

    ours, theirs = linear(), linear()
    learner = learner_of(ours, UNIT, images, labels, phases=1, rate=0.1)
    learner.learn(2, np.random.default_rng(0))  # 32 images: each update sees all of them
    optimiser = torch.optim.Adam(theirs.parameters(), 0.1)
    for _ in range(2):
        optimiser.zero_grad()
        nn.functional.cross_entropy(theirs(images.float() / 255), labels).backward()
        optimiser.step()
    for one, two in zip(ours.parameters(), theirs.parameters()):
        assert torch.allclose(one, two, atol=1e-6)
    learner.append(torch.full_like(images, 3).half())
    shown = learner.version(torch.tensor([4, 4]), torch.tensor([0, 1]))
    assert torch.equal(shown[0], images[4].float())
    assert torch.equal(shown[1], images[4].float() + 3)
    assert learner.versions == 2


def test_the_script_writes_a_line_per_training_and_keeps_what_is_there(tmp_path):
    for split in ("train", "test"):
        digits = np.random.default_rng(0).integers(0, 256, (8, 28, 28)).astype(np.uint8)
        np.savez(tmp_path / f"mnist-{split}.npz", images=digits, labels=np.arange(8))
    command = [sys.executable, str(SCRIPTS / "ada_inputs.py"), "--root", str(tmp_path), "--out", str(tmp_path / "out")]
    command += [
        "--device",
        "cpu",
        "--updates",
        "1",
        "--seeds",
        "1",
        "--limit",
        "8",
        "--test-images",
        "2",
        "--shifts",
        "2",
    ]
    for _ in range(2):
        subprocess.run([*command, "--arms", "3", "7"], check=True, capture_output=True)
    rows = [json.loads(line) for line in (tmp_path / "out" / "runs.jsonl").read_text().splitlines()]
    assert [row["arm"] for row in rows] == ["0…1, Glorot's weights", "plain training"]
    assert (tmp_path / "out" / "table.md").read_text().count("| 1 |") == 2
