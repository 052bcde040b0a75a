"""Ways to train beyond the plain one: fine-tuning, partners, attacks, held-out parts, label maps, grids, logs."""

from __future__ import annotations

import csv
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from snellen.data.arrays import from_arrays
from snellen.data.dataset import Dataset, Photo, Samples
from snellen.errors import UserError
from snellen.models.checkpoint import load_state, read_card
from snellen.models.zoo import NETWORKS
from snellen.train import Recipe, loop, search_grid, train
from snellen.train.batches import Feed, _rows_of
from snellen.train.device_dataset import ImagesInMemory, remember
from snellen.train.draws import TrainDraws
from snellen.train.grid import read_grid
from snellen.train.hold_out import hold_out

SHORT = Recipe(epochs=1, batch_size=16)
CPU = torch.device("cpu")


def test_updates_are_counted_in_steps_and_cut_the_last_epoch_short(tmp_path, bars):
    heard = []
    (path,) = train(replace(SHORT, updates=7), bars(48), tmp_path, progress=heard.append)  # 3 steps an epoch
    assert [(p.epoch, p.epochs) for p in heard] == [(1, 3), (2, 3), (3, 3)]
    feed = Feed(replace(SHORT, updates=7), remember(bars(48), CPU), [0.0] * 3)
    assert [len(list(feed.epoch(e, TrainDraws.of(0, e)))) for e in range(3)] == [3, 3, 1]
    assert int(load_state(path)["stage1.2.num_batches_tracked"]) == 7


def test_every_image_is_seen_once_an_epoch_in_an_order_of_its_own():
    images = torch.arange(12, dtype=torch.uint8).view(12, 1, 1, 1).expand(12, 3, 4, 4).contiguous()
    feed = Feed(Recipe(batch_size=4, flip=False, padding=0), ImagesInMemory(images, torch.arange(12)), [0.0] * 3)
    seen = [
        torch.cat([shown[:, 0, 0, 0] for _, shown, _ in feed.epoch(e, TrainDraws.of(0, e))]).tolist() for e in (0, 1)
    ]
    assert [sorted(order) for order in seen] == [list(range(12))] * 2
    assert seen[0] != seen[1]


def test_recipes_that_differ_in_the_mix_see_the_same_images_in_turn(bars):
    shown = remember(bars(32), CPU)
    labels = [
        [
            targets.own.tolist()
            for _, _, targets in Feed(replace(SHORT, mix=mix), shown, [0.0] * 3).epoch(2, TrainDraws.of(5, 2))
        ]
        for mix in ("none", "cutmix", "mixup")
    ]
    assert labels[0] == labels[1] == labels[2]


def test_rows_of_a_partner_come_round_again_shuffled():
    rows = _rows_of(5, 12, torch.Generator().manual_seed(0)).tolist()
    assert sorted(rows[:5]) == sorted(rows[5:10]) == list(range(5))
    assert len(rows) == 12


def test_partners_come_in_an_order_of_their_own_that_changes_with_the_epoch():
    """Grey levels number the partners of black images, and one fixed mask shows them; by their order in the file each
    image would meet the same few."""
    grey = torch.arange(100, 112, dtype=torch.uint8).view(12, 1, 1, 1).expand(12, 3, 8, 8).contiguous()
    own, other = (
        ImagesInMemory(torch.zeros_like(grey), torch.zeros(12, dtype=torch.long)),
        ImagesInMemory(grey, torch.zeros(12).long()),
    )
    recipe = Recipe(batch_size=4, mix="random_masks(k=1)", objective="reformulated", flip=False, padding=0, epochs=2)
    feed = Feed(recipe, own, [0.0] * 3, other)

    def partners(epoch):
        return torch.cat([shown.amax((1, 2, 3)) for _, shown, _ in feed.epoch(epoch, TrainDraws.of(0, epoch))]).tolist()

    first, second = partners(0), partners(1)
    assert sorted(first) == sorted(second) == list(range(100, 112))
    assert len({tuple(first), tuple(second), tuple(range(100, 112))}) == 3
    assert partners(0) == first
    # Nor do they follow the images that they are mixed into.
    assert [one - 100 for one in first] != torch.randperm(12, generator=TrainDraws.of(0, 0).order).tolist()


def test_the_reformulated_objective_shows_the_partners_pixels_but_not_its_labels(bars):
    own = ImagesInMemory(torch.zeros(32, 3, 8, 8, dtype=torch.uint8), torch.arange(32) % 2)
    other = ImagesInMemory(torch.full((3, 3, 8, 8), 200, dtype=torch.uint8), torch.full((3,), -1))
    recipe = replace(SHORT, mix="mixup", objective="reformulated")
    for _, images, targets in Feed(recipe, own, [0.0] * 3, other).epoch(0, TrainDraws.of(0, 0)):
        assert 0 < float(images.float().max()) < 200  # some of the 200, none of the border where padding is 0
        assert torch.equal(targets.weight, torch.ones(16))
        assert set(targets.own.tolist()) == {0, 1}


def test_a_partner_of_another_size_is_padded_and_said_once(tmp_path, bars):
    recipe, said = replace(SHORT, mix="cutmix", objective="reformulated"), []
    small = bars(20, seed=3, side=20)
    (first, _) = train(recipe, bars(48), tmp_path / "a", runs=2, partner=small, notice=said.append)
    assert said == ["arrays:bars-3.npz is padded from 20x20 to 28x28 pixels"]
    assert read_card(first)["partner"] == small.fingerprint
    large = bars(20, seed=3, side=40)
    train(recipe, bars(48), tmp_path / "b", partner=large, notice=said.append)
    assert said[1:] == ["arrays:bars-3.npz is resized from 40x40 to 28x28 pixels"]
    train(replace(recipe, resize_partner=True), bars(48), tmp_path / "r", partner=small, notice=said.append)
    assert said[2:] == ["arrays:bars-3.npz is resized from 20x20 to 28x28 pixels"]
    with pytest.raises(UserError, match="was trained otherwise \\(partner bars-20-3-20 ≠ none\\)"):
        train(recipe, bars(48), tmp_path / "a")
    with pytest.raises(UserError, match="a partner's labels do not count; add objective reformulated"):
        train(replace(SHORT, mix="cutmix"), bars(48), tmp_path / "c", partner=small)


def test_held_out_images_are_always_the_same_and_never_learnt_from(bars):
    data = bars(100)
    learnt, held = hold_out(data, 0.1)
    assert len(held) == 10
    assert not set(learnt.samples.ids) & set(held.samples.ids)
    turned = data.at(np.arange(100)[::-1])
    assert set(hold_out(turned, 0.1)[1].samples.ids) == set(held.samples.ids)
    with pytest.raises(UserError, match="holding out 0.1 of 4 images leaves an empty part"):
        hold_out(bars(4), 0.1)


def test_the_best_network_is_kept_apart_and_is_the_one_its_card_says(tmp_path, bars):
    data, test = bars(200), bars(100, seed=1)
    (path,) = train(replace(SHORT, epochs=5), data, tmp_path, test=test, every=2)
    card, best = read_card(path), read_card(tmp_path / "best" / path.name)
    measured = {row["epoch"]: row["accuracy"] for row in card["history"]}
    assert [e for e, a in measured.items() if a is not None] == [2, 4, 5]
    top = max((a, -e) for e, a in measured.items() if a is not None)
    assert (best["accuracy"], -best["epoch"]) == top
    assert card["best"] == {"accuracy": best["accuracy"], "epoch": best["epoch"]}
    assert card["accuracy"] == measured[5]
    assert [p.name for p in tmp_path.glob("*.safetensors")] == [path.name]


def test_with_held_out_and_test_images_one_judges_and_the_other_is_stated(tmp_path, bars):
    (path,) = train(SHORT, bars(100), tmp_path, test=bars(30, seed=1), holdout=0.2)
    card = read_card(path)
    assert card["held_out_accuracy"] * 20 == pytest.approx(round(card["held_out_accuracy"] * 20))
    assert card["accuracy"] * 30 == pytest.approx(round(card["accuracy"] * 30))
    assert card["best"]["accuracy"] == card["held_out_accuracy"]


def test_diversity_is_the_loss_against_the_majority_and_mix_diversity_against_both(tmp_path, bars):
    (plain,) = train(SHORT, bars(64), tmp_path / "a")
    (row,) = read_card(plain)["history"]
    assert row["diversity"] == row["mix_diversity"] == row["loss"]
    (mixed,) = train(replace(SHORT, mix="mixup", smoothing=0.1), bars(64), tmp_path / "b")
    (row,) = read_card(mixed)["history"]
    assert len({round(row[name], 6) for name in ("loss", "diversity", "mix_diversity")}) == 3


def test_the_losses_of_an_epoch_are_the_mean_over_its_batches(tmp_path, bars, monkeypatch):
    """Four batches on the way down: the last one's alone would make a mix look easier to fit than it was."""
    seen, of_batch = [], loop._three
    monkeypatch.setattr(loop, "_three", lambda *arguments: seen.append(of_batch(*arguments)) or seen[-1])
    (path,) = train(replace(SHORT, mix="mixup", smoothing=0.1), bars(64), tmp_path)
    (row,) = read_card(path)["history"]
    batches = np.array([one.tolist() for one in seen])
    assert batches.shape == (4, 3)
    assert (np.ptp(batches, axis=0) > 0.01).all()
    assert [row[name] for name in ("loss", "diversity", "mix_diversity")] == pytest.approx(batches.mean(0))


def test_fine_tuning_begins_with_the_weights_and_a_new_head_for_other_classes(tmp_path, bars):
    (first,) = train(SHORT, bars(48), tmp_path / "a")
    frozen = replace(SHORT, lr=1e-30, weight_decay=0.0)
    said = []
    (same,) = train(frozen, bars(48), tmp_path / "b", init=first, notice=said.append)
    before, after = load_state(first), load_state(same)
    assert said == []
    assert torch.equal(before["stage1.0.weight"], after["stage1.0.weight"])
    assert torch.equal(before["linear.weight"], after["linear.weight"])
    other = bars(48, classes=("a", "b", "c"))
    (tuned,) = train(frozen, other, tmp_path / "c", init=first, notice=said.append)
    assert said == [f"'{first}' knows 2 other classes: its last layer 'linear' starts from random weights with 3"]
    after = load_state(tuned)
    assert torch.equal(before["stage4.0.weight"], after["stage4.0.weight"])
    assert after["linear.weight"].shape == (3, 96)
    renamed = bars(48, classes=("up", "down"))
    (anew,) = train(frozen, renamed, tmp_path / "d", init=first, notice=said.append)
    assert len(said) == 2
    assert not torch.equal(before["linear.weight"], load_state(anew)["linear.weight"])
    with pytest.raises(UserError, match="does not fit this network: it lacks"):
        train(replace(SHORT, arch="resnet20"), bars(48), tmp_path / "e", init=first)
    with pytest.raises(UserError, match="no checkpoint"):
        train(SHORT, bars(48), tmp_path / "f", init=tmp_path / "nowhere.safetensors")


def test_fine_tuning_keeps_the_normalisation_the_weights_are_used_to(tmp_path, bars):
    (first,) = train(SHORT, bars(48), tmp_path / "a")
    (second,) = train(SHORT, bars(48, seed=8), tmp_path / "b", init=first)
    assert read_card(second)["mean"] == read_card(first)["mean"]


def test_training_against_an_attack_sees_other_images_and_leaves_no_trace_in_the_statistics(tmp_path, bars):
    (plain,) = train(SHORT, bars(48), tmp_path / "a")
    (hard,) = train(replace(SHORT, robust="pgd(radius=0.1, step=0.05, steps=2)"), bars(48), tmp_path / "b")
    assert hard.name == "smallnet-none-pgd-0.safetensors"
    one, two = load_state(plain), load_state(hard)
    assert not torch.equal(one["linear.weight"], two["linear.weight"])
    assert int(two["stage1.2.num_batches_tracked"]) == int(one["stage1.2.num_batches_tracked"]) == 3
    assert read_card(hard)["history"][0]["loss"] > read_card(plain)["history"][0]["loss"]


class PerPixel(nn.Module):
    """A class for each pixel, from its colour alone."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, classes, 1)

    def forward(self, images):
        return self.conv(images)


def coloured(count: int, seed: int = 0, ignored: int = 255) -> Dataset:
    """Pixels red, green or blue, labelled so; a frame of one pixel is labelled wrongly but does not count."""
    labels = np.random.default_rng(seed).integers(0, 3, (count, 8, 8))
    images = (np.eye(3)[labels] * 200 + 20).astype(np.uint8)
    maps = labels.copy()
    maps[:, 0] = ignored
    shown = [Photo(image, "", maps={"labels": one}) for image, one in zip(images, maps)]
    samples = Samples(tuple(f"{seed}-{i}" for i in range(count)), np.full(count, -1, np.int64))
    return Dataset(
        "memory:colours", ("red", "green", "blue"), samples, f"c{count}-{seed}", lambda rows: [shown[r] for r in rows],
        size=(8, 8), facts=frozenset({"labels"}),
    )  # fmt: skip


def test_label_maps_are_learnt_pixel_by_pixel_and_ignored_ones_do_not_count(tmp_path, monkeypatch):
    monkeypatch.setitem(NETWORKS, "perpixel", PerPixel)
    recipe = Recipe(arch="perpixel", epochs=5, batch_size=8, padding=0, ignore=255, lr=0.5)
    (path,) = train(recipe, coloured(64), tmp_path, test=coloured(16, seed=1))
    assert read_card(path)["accuracy"] == 1.0
    kept = remember(coloured(2), CPU, ignore=255).labels
    assert (kept[:, 0] == -100).all()
    assert (kept[:, 1:] >= 0).all()


def test_a_grid_tries_all_keeps_a_row_for_each_and_names_the_best(tmp_path, bars):
    data, heard = bars(120), []
    grid = {"lr": [1e-9, 0.2], "epochs": [4]}
    trials = search_grid(replace(SHORT, flip=False), data, tmp_path, grid, holdout=0.25, progress=heard.append)
    assert [t.settings["lr"] for t in trials] == [0.2, 1e-9]
    assert trials[0].recipe == replace(SHORT, flip=False, lr=0.2, epochs=4)
    rows = list(csv.DictReader((tmp_path / "grid.csv").open()))
    assert [row["lr"] for row in rows] == ["0.2", "1e-09"]
    assert float(rows[0]["held_out_accuracy"]) > float(rows[1]["held_out_accuracy"])
    assert not list(tmp_path.glob("*.safetensors"))
    count = len(heard)
    again = search_grid(replace(SHORT, flip=False), data, tmp_path, grid, holdout=0.25, progress=heard.append)
    assert len(heard) == count
    assert again == trials


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lrr: [1]", "unknown setting in .*'lrr'; did you mean 'lr'?"),
        ("lr: 0.1", "expected lr as a list of values, got '0.1'"),
        ("- 1", "expected settings as 'name: value' lines, got list"),
        ("a: [", "is not YAML"),
    ],
)
def test_a_bad_grid_is_one_line(tmp_path, text, said):
    (tmp_path / "grid.yaml").write_text(text)
    with pytest.raises(UserError, match=said):
        read_grid(tmp_path / "grid.yaml")


def test_a_bad_value_stops_the_grid_before_anything_is_trained(tmp_path, bars):
    with pytest.raises(UserError, match="expected epochs from 1 to 1,000,000, got 0"):
        search_grid(SHORT, bars(48), tmp_path, {"epochs": [1, 0]})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("kind", "title"), [("tensorboard", "TensorBoard"), ("mlflow", "MLflow")])
def test_a_log_that_is_not_installed_says_how_to_get_it(tmp_path, bars, monkeypatch, kind, title):
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(UserError, match=rf"--log {kind} needs {title}; pip install 'snellen\[{kind}\]'"):
        train(SHORT, bars(48), tmp_path, log=kind)
    with pytest.raises(UserError, match="unknown log 'mlflw'; did you mean 'mlflow'?"):
        train(SHORT, bars(48), tmp_path, log="mlflw")


def test_mlflow_hears_the_recipe_and_every_epoch(tmp_path, bars, monkeypatch):
    heard = []
    fake = types.ModuleType("mlflow")
    fake.start_run = lambda run_name: heard.append(run_name)
    fake.log_params = lambda settings: heard.append(settings["lr"])
    fake.log_metrics = lambda numbers, step: heard.append((step, sorted(numbers)))
    fake.end_run = lambda: heard.append("end")
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    train(replace(SHORT, epochs=2), bars(48), tmp_path, log="mlflow")
    names = ["diversity", "loss", "mix_diversity", "rate", "seconds"]
    assert heard == ["smallnet-none-0", 0.2, (1, names), (2, names), "end"]


def test_grey_images_in_memory_are_trained_on_as_rgb(tmp_path):
    held = {
        "images": np.random.default_rng(0).integers(0, 256, (32, 28, 28), dtype=np.uint8),
        "labels": np.arange(32) % 2,
    }
    (path,) = train(SHORT, from_arrays(held, "arrays:grey.npz", "grey"), tmp_path)
    assert len(read_card(path)["mean"]) == 3
