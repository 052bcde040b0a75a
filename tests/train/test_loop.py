"""Training: it learns, it repeats itself to the bit, it does nothing twice, and it says what went wrong."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from snellen.data.dataset import Dataset, Photo, Samples, Unreadable
from snellen.errors import UserError
from snellen.models.checkpoint import load_into, load_state, read_card
from snellen.models.zoo import build
from snellen.train import Progress, Recipe, train
from snellen.train.augment import random_crop, random_flip
from snellen.train.device_dataset import channel_statistics, remember
from snellen.train.loop import accuracy
from snellen.train.normalise import Normalise

SHORT = Recipe(epochs=1, batch_size=16)
CPU = torch.device("cpu")


def photos(shown: list[Photo | Unreadable], labels: list[int], classes: tuple[str, ...] = ("a", "b")) -> Dataset:
    ids = tuple(f"photo-{i}" for i in range(len(shown)))
    samples = Samples(ids, np.array(labels, np.int64))
    return Dataset("folder:some", classes, samples, "f0", lambda rows: [shown[r] for r in rows])


def plain(height: int, width: int, level: int = 9) -> Photo:
    return Photo(np.full((height, width, 3), level, np.uint8), "")


@pytest.mark.parametrize(("mix", "least"), [("none", 0.95), ("cutmix", 0.9)])
def test_a_small_network_learns_lying_from_standing_bars_in_seconds(tmp_path, mix, least, bars):
    data, test = bars(600), bars(200, seed=1)
    (path,) = train(Recipe(mix=mix, epochs=6, batch_size=32), data, tmp_path, test=test)
    card = read_card(path)
    network = load_into(build(card["arch"], len(card["classes"])), path).eval()
    assert accuracy(network, remember(data, CPU), Normalise(card["mean"], card["std"])) > 0.9
    assert card["accuracy"] >= least
    assert card["accuracy"] == accuracy(network, remember(test, CPU), Normalise(card["mean"], card["std"]))


def test_the_card_says_how_to_make_the_same_run_again(tmp_path, bars):
    data = bars(48)
    first, second = train(replace(SHORT, seed=5), data, tmp_path, runs=2)
    assert [p.name for p in (first, second)] == ["smallnet-none-5.safetensors", "smallnet-none-6.safetensors"]
    card = read_card(second)
    assert Recipe(**card["recipe"]) == replace(SHORT, seed=6)
    assert (card["arch"], card["classes"], card["size"]) == ("smallnet", ["lying", "standing"], [28, 28])
    assert (card["data"], card["fingerprint"], card["seed"]) == (data.text, data.fingerprint, 6)
    assert card["accuracy"] is None
    images = np.stack([photo.image for photo in data.read(range(48))]) / 255
    assert card["mean"] == pytest.approx(images.mean((0, 1, 2)))
    assert card["std"] == pytest.approx(images.std((0, 1, 2)))


@pytest.mark.parametrize("mix", ["none", "cutmix"])
def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path, mix, bars):
    recipe, data = replace(SHORT, mix=mix), bars(64)
    torch.manual_seed(1)
    (first,) = train(recipe, data, tmp_path / "a")
    torch.manual_seed(2)
    again, other = train(recipe, data, tmp_path / "b", runs=2)
    one, same, different = load_state(first), load_state(again), load_state(other)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["stage1.0.weight"], different["stage1.0.weight"])


def test_training_leaves_the_global_random_states_alone(tmp_path, bars):
    before, legacy = torch.get_rng_state(), np.random.get_state()[1].copy()
    train(replace(SHORT, mix="cutmix"), bars(32), tmp_path)
    assert torch.equal(before, torch.get_rng_state())
    assert np.array_equal(legacy, np.random.get_state()[1])


def test_runs_that_are_there_are_kept_and_only_the_missing_one_is_made(tmp_path, bars):
    data, heard = bars(48), []
    paths = train(SHORT, data, tmp_path, runs=3)
    made = [p.stat().st_mtime_ns for p in paths]

    def unwanted(rows):
        pytest.fail("nothing is left to train, yet images were read")

    unread = replace(data, read=unwanted, read_together=unwanted)
    assert train(SHORT, unread, tmp_path, runs=3) == paths
    paths[1].unlink()
    assert train(SHORT, data, tmp_path, runs=3, progress=heard.append) == paths
    assert {p.run for p in heard} == {"smallnet-none-1"}
    assert [p.stat().st_mtime_ns == t for p, t in zip(paths, made)] == [True, False, True]


def test_a_checkpoint_of_another_recipe_or_other_data_is_not_overwritten(tmp_path, bars):
    train(SHORT, bars(48), tmp_path)
    with pytest.raises(UserError, match=r"was trained otherwise \(epochs 1 ≠ 2\); choose another folder or delete"):
        train(replace(SHORT, epochs=2), bars(48), tmp_path)
    with pytest.raises(UserError, match=r"data 'arrays:bars-0.npz' bars-48-0-28 ≠ 'arrays:bars-9.npz' bars-48-9-28"):
        train(SHORT, bars(48, seed=9), tmp_path)


def test_progress_is_told_after_every_epoch(tmp_path, bars):
    heard: list[Progress] = []
    train(replace(SHORT, epochs=3), bars(40), tmp_path, progress=heard.append)
    assert [(p.run, p.epoch, p.epochs) for p in heard] == [("smallnet-none-0", e, 3) for e in (1, 2, 3)]
    assert all(0 < p.loss < 10 for p in heard)


def test_a_loss_that_explodes_names_epoch_and_batch(tmp_path, bars):
    with pytest.raises(
        UserError, match=r"smallnet-none-0 became (nan|inf) in epoch \d+, batch \d+; try a learning rate"
    ):
        train(Recipe(epochs=4, batch_size=8, lr=1e30), bars(40), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_images_of_two_sizes_are_named(tmp_path):
    data = photos([plain(28, 28), plain(28, 28), plain(32, 30)], [0, 1, 0])
    said = "folder:some holds images of different sizes: 'photo-0' is 28x28, 'photo-2' is 32x30; resize them"
    with pytest.raises(UserError, match=said):
        train(SHORT, data, tmp_path)


def test_an_unreadable_or_unlabelled_image_is_named(tmp_path):
    with pytest.raises(UserError, match="cannot read 'photo-1': cut short"):
        train(SHORT, photos([plain(28, 28), Unreadable("cut short")], [0, 1]), tmp_path)
    with pytest.raises(UserError, match="1 images have no label, the first is 'photo-2'"):
        train(SHORT, photos([plain(28, 28)] * 3, [0, 1, -1]), tmp_path)


def test_nothing_or_one_class_cannot_be_trained_on(tmp_path):
    with pytest.raises(UserError, match="folder:some holds no images"):
        train(SHORT, photos([], []), tmp_path)
    with pytest.raises(UserError, match="folder:some shows only the class 'b'; training needs at least two"):
        train(SHORT, photos([plain(28, 28)] * 2, [1, 1]), tmp_path)
    with pytest.raises(UserError, match="folder:some shows no known class; training needs at least two"):
        train(SHORT, photos([plain(28, 28)] * 2, [-1, -1]), tmp_path)


def test_test_data_must_fit_the_training_data(tmp_path, bars):
    with pytest.raises(UserError, match=r"other classes than arrays:bars-0.npz: standing, lying ≠ lying, standing"):
        train(SHORT, bars(32), tmp_path, test=bars(32, seed=1, classes=("standing", "lying")))
    with pytest.raises(UserError, match="expected images of 28x28 pixels as in training, got 32x32"):
        train(SHORT, photos([plain(28, 28)] * 2, [0, 1]), tmp_path, test=photos([plain(32, 32)], [0]))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"arch": "smalnet"}, "unknown network 'smalnet'; did you mean 'smallnet'"),
        ({"mix": "cutmx"}, "unknown mix 'cutmx'; did you mean 'cutmix'"),
        ({"epochs": 0}, "expected epochs from 1 to 1,000,000, got 0"),
        ({"lr": float("nan")}, "expected lr as a number above 0, got nan"),
        ({"schedule": "onecycle(1.0)"}, r"onecycle: expected warmup in \[0, 1\), got 1.0"),
    ],
)
def test_a_recipe_refuses_what_cannot_be_cooked(wrong, said):
    with pytest.raises(UserError, match=said):
        Recipe(**{**asdict(SHORT), **wrong})


@pytest.mark.parametrize("steps", [1, 2, 7, 100])
@pytest.mark.parametrize("warmup", [0.0, 0.25, 0.9])
def test_the_rate_rises_once_falls_once_and_is_never_zero_or_above_its_peak(steps, warmup):
    rates = [Recipe(lr=0.4, schedule=f"onecycle({warmup})").rate(step, steps) for step in range(steps)]
    peak = int(np.argmax(rates))
    assert rates[: peak + 1] == sorted(rates[: peak + 1])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert 0 < min(rates) <= max(rates) <= 0.4
    assert steps < 100 or max(rates) > 0.39


def test_a_crop_shows_the_image_moved_by_up_to_the_padding():
    images = torch.arange(1, 6 * 5 + 1, dtype=torch.uint8).view(1, 1, 6, 5).expand(200, 3, 6, 5)
    moved = random_crop(images, 1, torch.Generator().manual_seed(0))
    padded = np.pad(images[0, 0].numpy(), 1)
    allowed = {padded[t : t + 6, s : s + 5].tobytes() for t in range(3) for s in range(3)}
    seen = {channel.numpy().tobytes() for image in moved for channel in image}
    assert seen == allowed
    assert (moved[:, 0] == moved[:, 2]).all()


def test_a_flip_mirrors_about_half_the_images_left_to_right():
    images = torch.arange(12, dtype=torch.uint8).view(1, 1, 3, 4).expand(400, 3, 3, 4)
    shown = random_flip(images, torch.Generator().manual_seed(0))
    mirrored = (shown == images.flip(3)).all((1, 2, 3))
    assert (mirrored | (shown == images).all((1, 2, 3))).all()
    assert 150 < int(mirrored.sum()) < 250


def test_a_flat_channel_can_still_be_normalised():
    images = torch.full((2, 3, 4, 4), 51, dtype=torch.uint8)
    mean, std = channel_statistics(images)
    assert mean == pytest.approx([0.2] * 3)
    assert Normalise(mean, std)(images).abs().max() < 1e-5


def test_normalised_training_images_have_mean_zero_and_deviation_one(bars):
    images = remember(bars(20), CPU).images
    seen = Normalise(*channel_statistics(images))(images)
    assert torch.allclose(seen.mean((0, 2, 3)), torch.zeros(3), atol=1e-5)
    assert torch.allclose(seen.std((0, 2, 3)), torch.ones(3), atol=1e-3)
