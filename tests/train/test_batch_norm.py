"""Measured statistics: they are those of the images shown, dropout does not disturb them, and nothing else changes."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from snellen.models.checkpoint import load_into, load_state, read_card
from snellen.models.zoo import build
from snellen.train import Recipe, train
from snellen.train.batch_norm import LEAST, enough, measure_statistics
from snellen.train.batches import Feed
from snellen.train.device_dataset import remember
from snellen.train.draws import TrainDraws
from snellen.train.normalise import Normalise

MEASURED = Recipe(epochs=2, batch_size=16, batch_norm="measured")


def test_statistics_are_means_over_batches_without_dropout():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm2d(3, momentum=0.3)).train()
    batches = [torch.randn(8, 3, 4, 4) * scale + 2 for scale in (1.0, 3.0, 5.0)]
    measure_statistics(network, batches)
    arrays = [batch.numpy() for batch in batches]
    norm = network[1]
    np.testing.assert_allclose(norm.running_mean, np.mean([one.mean((0, 2, 3)) for one in arrays], 0), rtol=1e-5)
    np.testing.assert_allclose(norm.running_var, np.mean([one.var((0, 2, 3), ddof=1) for one in arrays], 0), rtol=1e-5)
    assert network.training
    assert norm.training
    assert norm.momentum == 0.3


def test_a_network_in_eval_stays_so_and_layers_without_statistics_are_left_alone():
    network = nn.Sequential(nn.BatchNorm2d(3, track_running_stats=False), nn.BatchNorm2d(3)).eval()
    measure_statistics(network, [torch.randn(8, 3, 4, 4)])
    assert not any(part.training for part in network.modules())
    assert network[0].running_mean is None


def test_a_thousand_images_are_enough():
    batches = [torch.zeros(1)] * 1000
    assert len(list(enough(batches, 64))) == -(-LEAST // 64)
    assert len(list(enough(batches[:3], 64))) == 3


def test_measuring_changes_what_batch_norm_answers_with_and_no_weight(tmp_path, bars):
    """The test accuracy is measured between the epochs, which must not disturb the training either."""
    data = bars(64)
    (measured,) = train(MEASURED, data, tmp_path / "measured", test=bars(32, seed=1))
    (running,) = train(Recipe(epochs=2, batch_size=16), data, tmp_path / "running")
    one, other = load_state(measured), load_state(running)
    statistics = {name for name in one if "running_" in name or "num_batches" in name}
    assert statistics
    assert all(torch.equal(one[name], other[name]) for name in one.keys() - statistics)
    assert not all(torch.equal(one[name], other[name]) for name in statistics)


def test_statistics_are_measured_at_the_end_where_nothing_is_judged_too(tmp_path, bars):
    """Recomputed from the checkpoint: the first layer's answers to the images of the last epoch, as they were shown."""
    (path,) = train(MEASURED, bars(64), tmp_path / "alone")
    (judged,) = train(MEASURED, bars(64), tmp_path / "judged", test=bars(32, seed=1))
    state, card = load_state(path), read_card(path)
    assert all(torch.equal(state[name], other) for name, other in load_state(judged).items())
    network = load_into(build("smallnet", 2), path).eval()
    name, norm = next((name, part) for name, part in network.named_modules() if isinstance(part, nn.BatchNorm2d))
    inputs = []
    norm.register_forward_pre_hook(lambda layer, given: inputs.append(given[0].double()))
    feed = Feed(MEASURED, remember(bars(64), torch.device("cpu")), [0.0] * 3)
    with torch.no_grad():
        for _, images, _ in feed.epoch(1, TrainDraws.of(MEASURED.seed, 1)):
            network(Normalise(card["mean"], card["std"])(images))
    means, squares = (torch.stack([rule(one) for one in inputs]).mean(0) for rule in (
        lambda one: one.mean((0, 2, 3)), lambda one: one.transpose(0, 1).flatten(1).var(1),
    ))  # fmt: skip
    np.testing.assert_allclose(state[f"{name}.running_mean"], means, atol=1e-5)
    np.testing.assert_allclose(state[f"{name}.running_var"], squares, rtol=1e-4)


def test_a_search_during_training_asks_a_network_with_measured_statistics(tmp_path, bars, monkeypatch):
    from snellen.train.shift.hardening import ShiftHardening

    tracked = []
    original = ShiftHardening.fitness

    def fitness(self, network):
        norms = [part for part in network.modules() if isinstance(part, nn.BatchNorm2d)]
        tracked.append({int(norm.num_batches_tracked) for norm in norms})
        return original(self, network)

    monkeypatch.setattr(ShiftHardening, "fitness", fitness)
    way = "esda(every=2, searches=1, images=16, population=2, steps=1)"
    train(Recipe(epochs=2, batch_size=16, batch_norm="measured", robust=way, seed=3), bars(64), tmp_path)
    assert tracked == [{4}]  # the four batches of an epoch, where running averages have seen eight
