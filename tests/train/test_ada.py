"""Adversarial data augmentation: two steps of ascent by hand on a linear network, and the data that grows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from snellen.errors import UserError
from snellen.models.checkpoint import read_card
from snellen.models.zoo import build
from snellen.train import Recipe, preset, train
from snellen.train.ada import BATCH, Ada, AdaHardening, parse_ada
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.hardening import Lesson
from snellen.train.normalise import Normalise
from snellen.train.processes import Team

CPU = torch.device("cpu")
UNIT = Normalise([0.0] * 3, [1.0] * 3).on(CPU)  # the network sees pixels in 0…1


def linear(classes: int = 3, pixels: int = 12) -> nn.Module:
    """A linear network: what enters its last layer are the pixels, so distances are those between images."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(pixels, classes))


def softmax(logits):
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


@pytest.mark.parametrize("objective", ["code", "paper"])
def test_the_ascent_of_a_linear_network_is_the_closed_form(objective):
    """∇ loss = Wᵀ(p − e_y); ∇ distance = z − z₀ (paper: half the sum of squares) or 2/12 of it (code: their mean over 12)."""
    network, labels = linear(), torch.tensor([0, 2])
    images = torch.randint(0, 256, (2, 3, 2, 2), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    way = Ada(steps=3, size=0.7, gamma=0.4, objective=objective)
    new = way.ascend(network, UNIT, images, labels)

    weight, bias = (one.detach().double().numpy() for one in network[1].parameters())
    home = images.double().numpy().reshape(2, 12) / 255
    wanted, point = np.eye(3)[labels.numpy()], home
    for _ in range(3):
        slope = (softmax(point @ weight.T + bias) - wanted) @ weight
        if objective == "code":
            step = (slope - 0.4 * 2 / 12 * (point - home)) / BATCH
        else:
            step = slope - 0.4 * (point - home)
        point = point + 0.7 * step
    assert np.abs(point - home).max() > 0.002
    assert new.reshape(2, 12).double().numpy() / 255 == pytest.approx(point, abs=1e-6)
    assert all(one.grad is None for one in network.parameters())


def test_a_large_gamma_keeps_the_features_near_and_the_loss_rises():
    network = build("convnet", 4).eval()
    images = torch.randint(0, 256, (4, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(4)

    def features(pixels):
        inside = network.features(UNIT(pixels))
        return network.fc2(network.fc1(inside).relu()).relu()

    def loss(pixels):
        return float(nn.functional.cross_entropy(network(UNIT(pixels)), labels))

    far, near = (
        Ada(steps=5, size=50, gamma=gamma, objective="paper").ascend(network, UNIT, images, labels) for gamma in (0, 1)
    )
    with torch.no_grad():
        assert loss(far) > loss(images)
        home = features(images)
        assert float((features(near) - home).norm()) < float((features(far) - home).norm())


def hardening(way: Ada, count: int = 10) -> AdaHardening:
    images = torch.randint(0, 256, (count, 3, 2, 2), dtype=torch.uint8, generator=torch.Generator().manual_seed(2))
    lesson = Lesson(
        shown=ImagesInMemory(images, torch.arange(count) % 3), normalise=UNIT, mean=(0.0, 0.0, 0.0), seed=0, steps=100,
        per_epoch=5, batch_size=4, team=Team(CPU),
    )  # fmt: skip
    return AdaHardening(way, lesson)


def test_phases_follow_their_updates_and_batches_show_every_version_equally_often():
    one, network = hardening(Ada(phases=3, updates=4, steps=2, size=200)), linear()
    phases = []
    for step in range(20):
        one.after(step, network)
        phases.append(len(one.offsets))
    assert phases == [0] * 3 + [1] * 4 + [2] * 4 + [3] * 9
    one.offsets = [torch.full_like(offset, number) for number, offset in enumerate(one.offsets, 1)]
    rows = np.repeat(np.arange(10), 400)
    pixels = one.lesson.shown.images[torch.from_numpy(rows)]
    shown, labels = one.change(50, rows, pixels, torch.from_numpy(rows))
    assert torch.equal(labels, torch.from_numpy(rows))
    versions = [torch.zeros_like(one.offsets[0]), *one.offsets]
    originals = one.lesson.shown.images.float()
    shares = [
        float((shown == (originals + offset.float())[torch.from_numpy(rows)]).all((1, 2, 3)).double().mean())
        for offset in versions
    ]
    assert sum(shares) == pytest.approx(1)
    assert all(abs(share - 1 / 4) < 5 * (3 / 16 / 4000) ** 0.5 for share in shares)


def test_each_update_draws_versions_of_its_own_and_the_same_ones_again():
    """Else an image at one place of the batch would be seen in one version all along."""
    one = hardening(Ada())
    one.offsets = [torch.full_like(one.lesson.shown.images, 1, dtype=torch.float16)]
    rows = np.arange(10)

    def changed(step: int) -> tuple[bool, ...]:
        shown, _ = one.change(step, rows, one.lesson.shown.images, torch.from_numpy(rows))
        return tuple((shown != one.lesson.shown.images).flatten(1).any(1).tolist())

    assert len({changed(step) for step in range(20)}) > 10
    assert changed(7) == changed(7)


def test_a_training_runs_its_phases_and_its_card_says_how_far_they_went(tmp_path, bars):
    data = bars(48)
    recipe = Recipe(epochs=2, batch_size=16, robust="ada(phases=2, updates=2, steps=2, size=100)")
    (path,) = train(recipe, data, tmp_path / "a")
    rows = read_card(path)["adversarial"]
    assert [row["phase"] for row in rows] == [1, 2]
    assert all(row["distance"] > 0 for row in rows)
    (tuned,) = train(replace(recipe, seed=1), data, tmp_path / "b", init=path)
    assert len(read_card(tuned)["adversarial"]) == 2


def test_texts_and_what_does_not_go_with_it():
    assert parse_ada("ada") == Ada(3, 100, 15, 1.0, 1.0, "code")
    assert parse_ada(str(Ada(objective="paper", gamma=0.5))) == Ada(objective="paper", gamma=0.5)
    for changes in ({"mix": "cutmix"}, {"resized": True}, {"jitter": 0.2}):
        with pytest.raises(UserError, match="ada's images lie between grey levels"):
            Recipe(robust="ada", **changes)


def test_the_slim_convnet_begins_with_the_weights_of_the_published_code():
    """Glorot's bounds √(6 / (75 + 1,600)) and √(6 / (3,200 + 1,024)), reached but not passed, and no biases; torch's own are
    1 / √75 and 1 / √3,200, with biases."""
    torch.manual_seed(0)
    slim, plain = build("convnet_slim", 10), build("convnet", 10)
    for network, conv, linear in ((slim, 0.0598, 0.0377), (plain, 0.1155, 0.0177)):
        assert float(network.features[0].weight.detach().abs().max()) == pytest.approx(conv, rel=0.01)
        assert float(network.fc1.weight.detach().abs().max()) == pytest.approx(linear, rel=0.01)
    assert all(float(one.detach().abs().max()) == 0 for name, one in slim.named_parameters() if name.endswith("bias"))
    assert float(plain.fc1.bias.detach().abs().max()) > 0


def test_the_published_training_is_a_preset_and_shows_pixels_in_0_to_1(tmp_path):
    """The public code of Volpi et al. 2018, and what a network is shown by it and by ours."""
    recipe = preset("volpi2018")
    assert (recipe.arch, recipe.updates, recipe.batch_size, recipe.lr, recipe.optimiser) == (
        "convnet_slim", 10_001, 32, 1e-4, "adam",
    )  # fmt: skip
    assert (recipe.weight_decay, recipe.flip, recipe.padding, recipe.schedule) == (0.0, False, 0, "constant")
    assert parse_ada(recipe.robust) == Ada(phases=6, updates=100, steps=15, size=1, gamma=1, objective="code")
    cards = {}
    for arch in ("convnet_slim", "convnet"):
        short = replace(recipe, arch=arch, updates=1, batch_size=4)
        (path,) = train(short, "phantom:train?size=32&n=8", tmp_path / arch)
        cards[arch] = read_card(path)
    assert (cards["convnet_slim"]["mean"], cards["convnet_slim"]["std"]) == ([0.0] * 3, [1.0] * 3)
    assert all(0.1 < level < 0.9 for level in cards["convnet"]["mean"])
