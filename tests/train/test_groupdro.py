"""Group DRO: three steps by hand, weights that stay a distribution, the same after a kill, and better for the worst group."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen import audit
from snellen.cli import main
from snellen.data import load_data
from snellen.errors import UserError
from snellen.models.checkpoint import load_state, read_card
from snellen.train import Recipe, train
from snellen.train.groupdro import (
    Groupdro,
    GroupWeights,
    SampleGroups,
    balanced_rows,
    groups_of,
    parse_groupdro,
    with_groups,
    worst_group,
)
from snellen.train.loop import each_loss
from snellen.train.processes import Team

from .processes import in_one_and_two_processes

ALONE = Team("cpu")
PAIR = SampleGroups(("a", "b"), np.array([0, 0, 0, 1]))


def weighed(step: float, adjust: float = 0.0, groups: SampleGroups = PAIR) -> GroupWeights:
    return GroupWeights.of(Groupdro("g", step, adjust), groups, "cpu")


def test_three_steps_by_hand():
    """With step ln 2 a loss of x multiplies a weight by 2^x."""
    held = weighed(log(2))
    members = torch.tensor([0, 1, 0])
    # means (1, 0): weights (2, 1) / 3
    assert float(held.loss(torch.tensor([0.5, 0.0, 1.5]), members, ALONE)) == pytest.approx(2 / 3)
    assert held.weights.tolist() == pytest.approx([2 / 3, 1 / 3])
    # means (0, 2): (2 · 1, 1 · 4) / 6
    assert float(held.loss(torch.tensor([0.0, 2.0, 0.0]), members, ALONE)) == pytest.approx(4 / 3)
    assert held.weights.tolist() == pytest.approx([1 / 3, 2 / 3])
    # only the first group, mean 1: (1 · 2, 2) / 4, and only its share of the loss
    assert float(held.loss(torch.tensor([1.0, 1.0]), torch.tensor([0, 0]), ALONE)) == pytest.approx(1 / 2)
    assert held.weights.tolist() == pytest.approx([1 / 2, 1 / 2])
    told = held.summary()
    assert told["a"] == {"images": 3, "weight": pytest.approx(0.5), "loss": pytest.approx(4 / 6)}
    assert told["b"]["loss"] == pytest.approx(1)
    assert held.worst_loss() == pytest.approx(1)
    assert worst_group(told) == "b"
    held.restart()
    assert held.summary()["a"]["loss"] is None


def test_the_adjustment_raises_the_weight_of_small_groups_but_not_the_loss():
    held = weighed(1.0, adjust=2.0)
    found = held.loss(torch.tensor([1.0, 1.0]), torch.tensor([0, 1]), ALONE)
    ratio = np.exp(2 / sqrt(1) - 2 / sqrt(3))  # of sizes 3 and 1
    assert (held.weights[1] / held.weights[0]).item() == pytest.approx(ratio, rel=1e-5)
    assert float(found) == pytest.approx(1)


def test_a_group_that_a_batch_lacks_is_not_adjusted_for_either():
    """Adjusted by √3 / √3 = 1 the first group, of three images, rises by 2^1; the second, of one, is not there and stays."""
    held = weighed(log(2), adjust=sqrt(3))
    held.loss(torch.tensor([0.0, 0.0]), torch.tensor([0, 0]), ALONE)
    assert held.weights.tolist() == pytest.approx([2 / 3, 1 / 3])


def test_an_image_pulls_with_its_groups_weight_shared_among_its_images():
    held = weighed(log(2))
    losses = torch.tensor([0.5, 0.0, 1.5], requires_grad=True)
    held.loss(losses, torch.tensor([0, 1, 0]), ALONE).backward()
    assert losses.grad is not None
    assert losses.grad.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3])


@settings(max_examples=60)
@given(
    count=st.integers(2, 9),
    step=st.floats(0, 50),
    adjust=st.floats(0, 10),
    losses=st.lists(st.lists(st.floats(0, 1e4), min_size=9, max_size=9), min_size=1, max_size=5),
)
def test_weights_are_a_distribution_and_equal_losses_keep_them(count, step, adjust, losses):
    groups = SampleGroups(tuple(map(str, range(count))), np.arange(count))
    held = weighed(step, adjust, groups)
    for batch in losses:
        before = held.weights
        found = held.loss(torch.tensor(batch[:count]), torch.arange(count), ALONE)
        assert held.weights.sum().item() == pytest.approx(1, abs=1e-4)
        assert (held.weights >= 0).all()
        assert min(batch[:count]) - 1e-2 <= float(found) <= max(batch[:count]) * (1 + 1e-4) + 1e-2
        before = held.weights
        held.loss(torch.full((count,), 1.5), torch.arange(count), ALONE)  # sizes are equal: so are adjustments
        assert torch.allclose(held.weights, before, atol=1e-4)


class Half(Team):
    """One of two processes, told in advance what the other would send."""

    def mean(self, values):
        object.__setattr__(self, "sent", values)
        return values if self.accelerator is None else (values + self.accelerator) / 2


def test_two_processes_have_the_weights_and_the_mean_loss_of_one():
    losses, members = torch.tensor([0.5, 3.0, 1.5, 0.0, 2.0, 7.0]), torch.tensor([0, 1, 0, 0, 0, 1])
    whole = weighed(0.3)
    expected = whole.loss(losses, members, ALONE)
    parts = [slice(0, 3), slice(3, 6)]
    sent = []
    for part in parts:
        team = Half("cpu", size=2)
        weighed(0.3).loss(losses[part], members[part], team)
        sent.append(team.sent)
    found = []
    for rank, part in enumerate(parts):
        held = weighed(0.3)
        found.append(held.loss(losses[part], members[part], Half("cpu", rank, 2, sent[1 - rank])))
        assert torch.allclose(held.weights, whole.weights)
    assert sum(found) / 2 == pytest.approx(expected)


def test_groups_are_the_combinations_that_occur():
    data = load_data("phantom:train?size=16&n=400&without=ring,crescent,square,triangle,star,cross,arrow,heart,sparkle")
    found = groups_of(data, parse_groupdro("groupdro(groups=label*scene)"))
    scene = data.samples.columns["scene"]
    expected = [f"{data.classes[label]}/{where}" for label, where in zip(data.samples.labels, scene)]
    assert [found.names[member] for member in found.members] == expected
    assert found.sizes.sum() == len(data)
    assert found.sizes.min() > 0
    assert set(groups_of(data, Groupdro("label")).names) == set(data.classes)


def test_balanced_rows_show_every_group_alike():
    members = torch.tensor([0] * 990 + [1] * 10)
    rows = balanced_rows(members, torch.Generator().manual_seed(0))
    assert len(rows) == 1000
    assert (members[rows] == 1).double().mean().item() == pytest.approx(0.5, abs=0.06)


def with_column(data, values):
    return replace(data, samples=replace(data.samples, columns={"odd": np.asarray(values)}))


RECIPE = Recipe(robust="groupdro(groups=odd, step=0.5)", epochs=3, batch_size=16)


def test_a_killed_run_goes_on_with_its_weights_and_the_card_tells_them(tmp_path, bars, monkeypatch):
    monkeypatch.setattr("snellen.train.state._SHARE", 1e9)
    data = with_column(bars(64), np.arange(64) % 8 == 0)

    class Killed(Exception):
        pass

    def kill(progress):
        if progress.epoch == 2:
            raise Killed

    (whole,) = train(RECIPE, data, tmp_path / "whole")
    with pytest.raises(Killed):
        train(RECIPE, data, tmp_path / "cut", progress=kill)
    (again,) = train(RECIPE, data, tmp_path / "cut")
    one, two = load_state(whole), load_state(again)
    assert all(torch.equal(one[name], two[name]) for name in one)
    card, other = read_card(whole), read_card(again)
    assert card["weighed"] == other["weighed"]
    assert whole.name == "smallnet-none-groupdro-0.safetensors"
    assert {name: row["images"] for name, row in card["weighed"].items()} == {"False": 56, "True": 8}
    assert sum(row["weight"] for row in card["weighed"].values()) == pytest.approx(1)
    assert card["weighed"]["True"]["weight"] != pytest.approx(0.5, abs=1e-3)
    worst = max(row["loss"] for row in card["weighed"].values())
    assert card["history"][-1]["worst_group_loss"] == pytest.approx(worst)
    assert card["weighed"][card["worst_group"]]["loss"] == worst
    with pytest.raises(UserError, match="groups"):  # the same images in other groups are another training
        train(RECIPE, with_column(bars(64), np.arange(64) % 4 == 0), tmp_path / "whole")


def test_the_losses_of_images_are_those_of_the_mean():
    logits = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, 0, 1])
    expected = torch.nn.functional.cross_entropy(logits, labels, label_smoothing=0.1)
    assert each_loss(logits, labels, 0.1).mean() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda data: Recipe(robust="groupdro"), "groupdro needs 'groups'"),
        (lambda data: Recipe(robust="groupdro(groups=a, step=-1)"), "expected step of at least 0, got -1"),
        (lambda data: Recipe(robust="groupdro(groups='a*')"), "expected groups as a column"),
        (lambda data: Recipe(robust="groupdor(groups=a)"), "did you mean 'groupdro'"),
        (lambda data: Recipe(robust="groupdro(groups=a)", mix="cutmix"), "images of 'cutmix' belong to two"),
        (lambda data: groups_of(data, Groupdro("evn")), "has no column 'evn' to make groups of; it has: label, odd"),
        (lambda data: groups_of(data, Groupdro("odd")), "makes 8 groups of 8 images"),
        (lambda data: groups_of(with_column(data, ["x"] * 8), Groupdro("odd")), "is 'x' everywhere"),
        (lambda data: with_groups(None, "odd"), "--groups odd needs --robust groupdro, got none"),
        (lambda data: with_groups("pgd", "odd"), "--groups odd needs --robust groupdro, got pgd"),
        (lambda data: with_groups("groupdro(groups=a)", "odd"), "both name groups"),
    ],
)
def test_what_cannot_be_is_named(bars, make, message):
    with pytest.raises(UserError) as caught:
        make(with_column(bars(8), np.arange(8)))
    assert message in str(caught.value)


def test_the_text_parses_back_and_flags_go_into_it():
    method = parse_groupdro("groupdro(groups=label*scene, step=0.1)")
    assert method == Groupdro("label*scene", 0.1)
    assert parse_groupdro(str(method)) == method
    assert with_groups("groupdro", "label*scene") == str(Groupdro("label*scene"))
    assert with_groups("groupdro(step=0.1, adjust=2)", "scene") == str(Groupdro("scene", 0.1, 2.0))
    assert with_groups("pgd", None) == "pgd"


def test_the_command_takes_groups(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["train", "smallnet", "--data", "phantom:train?size=16&n=900", "--robust", "groupdro", "--groups", "label*scene",
              "--dry-run"])  # fmt: skip
    assert not caught.value.code
    assert "robust: groupdro(groups='label*scene', step=0.01, adjust=0, balanced=true)" in capsys.readouterr().out


TWO = "without=disc,ring,crescent,triangle,cross,arrow,heart,sparkle,hexagram,burst"  # leaves square and star


@pytest.mark.slow
def test_with_planted_backgrounds_the_worst_group_gains(tmp_path):
    learnt = f"phantom:train?size=32&n=9000&background_bias=0.95&{TWO}"
    shown = load_data(f"phantom:test?size=32&n=6000&{TWO}")
    groups = groups_of(shown, Groupdro("label*scene"))
    worst = {}
    for name, robust in (("plain", "none"), ("groupdro", "groupdro(groups=label*scene)")):
        paths = train(Recipe(robust=robust), learnt, tmp_path / name, runs=2)
        run = audit({name: [str(path) for path in paths]}, shown, [], quiet=True, report=False)
        answers = run.predictions().query("distortion == 'none()'")
        score = answers.groupby("sample").score.mean().reindex(shown.samples.ids).to_numpy()
        worst[name] = min(score[groups.members == group].mean() for group in range(len(groups.names)))
    assert worst["groupdro"] > worst["plain"] + 0.2, worst


SCRIPT = """
import sys, torch
from torch import nn
torch.set_num_threads(1)
from snellen.models.zoo import NETWORKS
from snellen.train import Recipe, train
NETWORKS["plain"] = lambda classes: nn.Sequential(  # no BatchNorm: its statistics would be those of half the batch
    nn.Conv2d(3, 8, 5, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, classes))
train(Recipe(arch="plain", robust="groupdro(groups=scene, step=0.1)", epochs=3, batch_size=32, lr=0.05),
      "phantom:train?size=28&n=160", sys.argv[1], device="cpu")
"""


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("accelerate") is None, reason="needs accelerate: pip install snellen[train]"
)
def test_two_real_processes_end_with_the_weights_of_one(tmp_path):
    in_one_and_two_processes(SCRIPT, tmp_path)
    name = "plain-none-groupdro-0.safetensors"
    one, two = (read_card(tmp_path / folder / name)["weighed"] for folder in ("one", "two"))
    for group, row in one.items():
        assert two[group] == pytest.approx(row, abs=1e-3)
    before, after = load_state(tmp_path / "one" / name), load_state(tmp_path / "two" / name)
    assert all(torch.allclose(before[key], after[key], atol=1e-4) for key in before)
