"""The zoo: sizes known from the papers, and real weights that answer as published."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from snellen.errors import UserError
from snellen.models.checkpoint import load_into
from snellen.models.zoo import NETWORKS, build

# preact: stem 1,856; stages 147,968 + 525,184 + 2,098,944 + 8,392,192; linear 5,130. Its twin without BatchNorm in the
# stem is the 11,171,146 of kuangliu/pytorch-cifar. resnet20: the 269,722 of akamaster/pytorch_resnet_cifar10.
WEIGHTS = {"resnet20": 269_722, "preact_resnet18": 11_171_274, "smallnet": 324 + 2_592 + 10_368 + 41_472 + 360 + 970}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_number_of_weights_is_the_one_counted_by_hand(name):
    assert sum(p.numel() for p in build(name, 10).parameters()) == WEIGHTS[name]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("size", [(28, 28), (32, 32), (64, 48)])
def test_any_small_image_gives_one_logit_per_class(name, size):
    logits = build(name, 9).eval()(torch.rand(2, 3, *size))
    assert logits.shape == (2, 9)
    assert logits.isfinite().all()


@pytest.mark.parametrize("name", NETWORKS)
def test_every_weight_takes_part_in_the_answer(name):
    network = build(name, 3)
    network(torch.rand(4, 3, 32, 32)).square().sum().backward()
    assert [n for n, p in network.named_parameters() if p.grad is None or not p.grad.any()] == []


def test_preact_blocks_end_in_a_sum_so_that_pooled_features_may_be_negative():
    network = build("preact_resnet18", 2).eval()
    seen: list[torch.Tensor] = []
    network.linear.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    network(torch.rand(2, 3, 32, 32))
    assert (seen[0] < 0).any()


def test_an_unknown_network_is_answered_with_the_nearest():
    with pytest.raises(UserError, match="unknown network 'resnet2'; did you mean 'resnet20'"):
        build("resnet2", 10)


def test_naming_networks_does_not_import_torch():
    code = "import sys, snellen.models.zoo, snellen.train; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_resnet20_with_our_cifar_weights_answers_as_measured(shared, realdata):
    """0.911 on the whole test set; on 500 images the standard error is 1.3 points."""
    network = load_into(build("resnet20", 10), shared / "models/cifar10_runs/basic-0.safetensors").eval()
    x, y, _ = realdata.load_small("cifar10", "test")
    images = torch.from_numpy(x[:500].copy()).permute(0, 3, 1, 2) / 255
    mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
    with torch.inference_mode():
        right = network((images - mean) / std).argmax(1) == torch.from_numpy(y[:500])
    assert 0.88 <= right.float().mean() <= 0.95
