"""Recipes: the papers' rates at the papers' epochs, settings as people write them, optimisers against their formulas."""

from __future__ import annotations

from dataclasses import asdict

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from snellen.errors import UserError
from snellen.train import PRESETS, Recipe, parse_schedule, preset
from snellen.train.presets import OLD_NAMES
from snellen.train.recipe import differing, name_in
from snellen.train.schedule import SCHEDULES, decay_groups, make_optimiser


def rates(name: str, epochs: list[int], total: int = 200, per_epoch: int = 390) -> list[float]:
    """The rate in the first step of some epochs."""
    recipe = preset(name)
    return [recipe.rate(epoch * per_epoch, total * per_epoch, per_epoch) for epoch in epochs]


def test_the_papers_rates():
    assert rates("marcu2022", [0, 99, 100, 199]) == pytest.approx([0.1, 0.1, 0.001, 0.001])
    steps = [0.1, 0.1, 0.01, 0.01, 0.001, 0.001, 1e-4, 1e-4]
    assert rates("won2023", [0, 74, 75, 149, 150, 224, 225, 299], 300) == pytest.approx(steps)
    assert rates("volpi2019-cifar10", [0, 59, 60, 119, 120, 159, 160]) == pytest.approx(
        [0.1, 0.1, 0.02, 0.02, 0.004, 0.004, 8e-4]
    )
    assert rates("xiao2021", [0, 49, 50, 99, 100, 150, 199]) == pytest.approx([0.1, 0.1, 0.01, 0.01, 1e-3, 1e-4, 1e-4])
    assert rates("xiao2021-small", [0, 50]) == pytest.approx([0.01, 0.001])
    assert rates("volpi2019", [0, 100]) == pytest.approx([3e-4, 3e-4])
    assert (preset("volpi2019").updates, preset("volpi2019").optimiser) == (1_000_000, "adam")


def test_a_step_lies_exactly_where_it_is_said_in_shares_or_epochs():
    half, sixty = parse_schedule("steps(at=[0.5], factor=0.01)"), parse_schedule("steps(at=[60], factor=0.2)")
    assert (half(49, 100, 1), half(50, 100, 1)) == (1, 0.01)
    assert (sixty(60 * 7 - 1, 1400, 7), sixty(60 * 7, 1400, 7)) == (1, 0.2)


def test_inverse_decay_halves_the_rate_after_one_over_decay_steps():
    assert parse_schedule("inverse(0.001)")(1000, 5000, 1) == pytest.approx(0.5)


def test_a_cosine_is_at_half_height_half_way():
    assert parse_schedule("cosine")(50, 100, 1) == pytest.approx(0.5)
    assert parse_schedule("cosine(warmup=0.2)")(60, 100, 1) == pytest.approx(0.5)


@settings(max_examples=60)
@given(name=st.sampled_from(sorted(SCHEDULES)), steps=st.integers(1, 500), per_epoch=st.integers(1, 50))
def test_every_schedule_stays_between_nothing_and_its_peak(name, steps, per_epoch):
    schedule = parse_schedule(name)
    shares = [schedule(step, steps, per_epoch) for step in range(steps)]
    assert all(0 < share <= 1 for share in shares)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_recipe_and_can_be_changed(name):
    recipe = preset(name, arch="resnet20", mix="cutmix", robust="none", epochs=3, lr=None)
    assert (recipe.arch, recipe.mix, recipe.epochs) == ("resnet20", "cutmix", 3)
    assert recipe.lr == PRESETS[name]["lr"]
    assert Recipe.read(asdict(recipe)) == recipe


@pytest.mark.parametrize(("old", "name"), OLD_NAMES.items())
def test_a_number_of_earlier_versions_gives_the_very_recipe_of_the_name(old, name):
    assert preset(old, arch="resnet20") == preset(name, arch="resnet20")  # what cards and settings.yaml keep


def test_numbers_of_earlier_versions_are_listed_nowhere():
    with pytest.raises(UserError) as raised:
        preset("005")
    assert "marcu2022" in str(raised.value)
    assert not any(f" {old}" in str(raised.value) for old in OLD_NAMES)


def test_a_length_in_epochs_takes_the_place_of_one_in_updates():
    assert (preset("volpi2019", epochs=3).epochs, preset("volpi2019", epochs=3).updates) == (3, None)
    assert preset("volpi2019", epochs=3, updates=5).updates == 5


def test_settings_come_from_a_file_and_as_texts(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "lr: 1e-3\nbatch-size: 32\nmix: cutmix\nnesterov: yes\nepochs: 4\nupdates: 70\n"
    )
    made = preset(str(tmp_path / "mine.yaml"))
    assert (made.lr, made.batch_size, made.mix, made.nesterov) == (1e-3, 32, "cutmix", True)
    assert (made.epochs, made.updates) == (4, 70)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"learning_rate": 1}, "unknown setting 'learning_rate'"),
        ({"lr": "fast"}, "expected lr as a number above 0, got 'fast'"),
        ({"epochs": 2.5}, "expected epochs as a whole number of at least 1, got 2.5"),
        ({"epochs": True}, "expected epochs as a whole number of at least 1, got True"),
        ({"flip": "maybe"}, "expected flip as true or false, got 'maybe'"),
        ({"schedule": "onecicle"}, "unknown schedule 'onecicle'; did you mean 'onecycle'?"),
        ({"schedule": "steps(at=[])"}, "steps: expected points above 0 in 'at'"),
        ({"optimiser": "sdg"}, "unknown optimiser 'sdg'; did you mean 'sgd'?"),
        ({"objective": "reformulated"}, "the reformulated objective needs a mix"),
        ({"robust": "pdg"}, "did you mean 'pgd'?"),
        ({"updates": 0}, "expected updates from 1 to 1,000,000,000, got 0"),
        ({"smoothing": 1}, "expected smoothing as a number of at least 0 and below 1, got 1"),
        ({"nesterov": True, "optimiser": "adam"}, "nesterov needs the optimiser sgd"),
        ({"arch": "preact_resnet81"}, "unknown network 'preact_resnet81'; did you mean 'preact_resnet18'?"),
    ],
)
def test_bad_settings_are_one_line(wrong, said):
    with pytest.raises(UserError, match=said):
        Recipe.read(wrong)


def test_an_unknown_recipe_names_the_nearest_and_a_missing_file_is_named():
    with pytest.raises(UserError, match="unknown recipe 'fats'; did you mean 'fast'?"):
        preset("fats")
    with pytest.raises(UserError, match="no settings file 'none.yaml'"):
        preset("none.yaml")


def test_a_setting_that_did_not_exist_then_had_its_default():
    wanted = asdict(Recipe())
    old = {name: value for name, value in wanted.items() if name not in ("smoothing", "robust")}
    assert differing(old, wanted) is None
    assert differing(old, {**wanted, "smoothing": 0.1}) == "smoothing 0.0 ≠ 0.1"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "smallnet-none-0"),
        ({"mix": "cutmix(alpha=0.5)", "seed": 7}, "smallnet-cutmix-7"),
        ({"arch": "timm:resnet18.a1", "robust": "pgd(radius=0.1)"}, "timm-resnet18.a1-none-pgd-0"),
    ],
)
def test_a_name_is_a_file_name(changes, name):
    assert Recipe(**changes).name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [("none", "none"), ("cutmix(alpha=0.5)", "cutmix"), ("cutmix(1) | mixup", "cutmix-mixup"), ("fmix()", "fmix")],
)
def test_a_text_has_a_bare_name(text, name):
    assert name_in(text) == name


def line(recipe: Recipe, slopes: list[float], start: float = 1.0) -> float:
    """One weight moved by given gradients."""
    network = nn.Linear(1, 1, bias=False)
    nn.init.constant_(network.weight, start)
    optimiser = make_optimiser(recipe, network)
    for slope in slopes:
        network.weight.grad = torch.full((1, 1), float(slope))
        optimiser.step()
    return float(network.weight.detach())


def test_two_steps_of_each_optimiser_by_hand():
    bare = dict(lr=0.1, weight_decay=0.0)
    assert line(Recipe(**bare, momentum=0.9), [1, 1]) == pytest.approx(1 - 0.1 * 1 - 0.1 * 1.9)
    nesterov = 1 - 0.1 * (1 + 0.9 * 1) - 0.1 * (1 + 0.9 * 1.9)
    assert line(Recipe(**bare, momentum=0.9, nesterov=True), [1, 1]) == pytest.approx(nesterov)
    assert line(Recipe(lr=0.1, weight_decay=0.5, momentum=0.0), [1]) == pytest.approx(1 - 0.1 * (1 + 0.5))
    assert line(Recipe(**bare, optimiser="adam"), [3]) == pytest.approx(1 - 0.1, abs=1e-6)
    rms = 1 - 0.1 / (0.01**0.5)  # the mean square after one gradient of 1 is 0.01
    assert line(Recipe(**bare, optimiser="rmsprop", momentum=0.0), [1]) == pytest.approx(rms, abs=1e-5)
    pace = (
        1 / 0.01**0.5
    )  # its momentum gathers steps, each gradient over the root of its mean square: 0.01, then 0.0199
    second = 0.9 * pace + 1 / 0.0199**0.5
    heavy = Recipe(**bare, optimiser="rmsprop", momentum=0.9)
    assert line(heavy, [1, 1]) == pytest.approx(1 - 0.1 * pace - 0.1 * second, abs=1e-5)


def test_biases_and_normalisation_may_be_spared_the_decay():
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4, 2))
    (everything,) = decay_groups(network, 0.1, "all")
    assert len(everything["params"]) == 6
    weights, spared = decay_groups(network, 0.1, "weights")
    assert [tuple(w.shape) for w in weights["params"]] == [(4, 3, 3, 3), (2, 4)]
    assert (weights["weight_decay"], spared["weight_decay"], len(spared["params"])) == (0.1, 0.0, 4)
