"""Partners of another dataset are normalised by their own statistics, not by those of the data they are mixed into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from snellen.data.arrays import from_arrays
from snellen.models.checkpoint import read_card
from snellen.train import Recipe, train
from snellen.train.batches import Feed
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.draws import TrainDraws
from snellen.train.normalise import Normalise
from snellen.train.pgd import _within_range

CPU = torch.device("cpu")
OWN = Normalise([0.5] * 3, [0.25] * 3)
THEIRS = Normalise([0.2, 0.2, 0.4], [0.1, 0.1, 0.2])
RECIPE = Recipe(epochs=2, batch_size=16, mix="cutmix", objective="reformulated")


def test_pixels_restated_by_hand():
    """Of 0.4 the deviation 0.1 from 0.2 makes 2, which is 1.0 where the mean is 0.5 and the deviation 0.25: 255 of 255.

    So 102 becomes 255, 51 (the mean itself) 127.5, 0 stays 0, and white, 8 deviations above, leaves the range at 637.5.
    """
    units = OWN.units(THEIRS, CPU)
    levels = torch.tensor([0, 51, 102, 255], dtype=torch.uint8).view(4, 1, 1, 1).expand(4, 3, 1, 1)
    restated = units(levels)
    assert restated.dtype == torch.float32
    torch.testing.assert_close(restated[:, 0, 0, 0], torch.tensor([0, 127.5, 255, 637.5]), atol=1e-4, rtol=0)
    assert float(restated[2, 2]) == pytest.approx(127.5, abs=1e-4)  # blue has its own mean, 0.4
    torch.testing.assert_close(OWN(restated), THEIRS(levels), atol=1e-5, rtol=0)


def test_data_in_their_own_units_stay_as_they_are():
    images = torch.randint(0, 256, (4, 3, 5, 5), dtype=torch.uint8)
    torch.testing.assert_close(OWN.units(OWN, CPU)(images), images.float(), atol=0, rtol=0)


@pytest.mark.parametrize("mix", ["cutmix", "fmix(per=sample)", "random_masks"])
def test_each_pixel_is_normalised_by_the_data_it_comes_from(mix):
    own = ImagesInMemory(torch.full((32, 3, 8, 8), 130, dtype=torch.uint8), torch.arange(32) % 2)
    other = ImagesInMemory(torch.full((5, 3, 8, 8), 200, dtype=torch.uint8), torch.full((5,), -1))
    recipe = replace(RECIPE, mix=mix, padding=0)
    feed = Feed(recipe, own, [127.5] * 3, other, OWN.units(THEIRS, CPU))
    wanted = [float(rule(memory.images[:1])[0, 0, 0, 0]) for rule, memory in ((OWN, own), (THEIRS, other))]
    found = torch.cat([OWN(images)[:, 0].flatten() for _, images, _ in feed.epoch(0, TrainDraws.of(0, 0))])
    near = torch.stack([(found - value).abs() < 1e-4 for value in wanted])
    assert near.any(0).all()
    assert near.any(1).all()
    assert wanted[1] == pytest.approx((200 / 255 - 0.2) / 0.1, abs=1e-4)


def test_batches_without_another_dataset_stay_bytes(bars):
    shown = ImagesInMemory(torch.full((32, 3, 8, 8), 130, dtype=torch.uint8), torch.arange(32) % 2)
    for _, images, _ in Feed(RECIPE, shown, [0.0] * 3).epoch(0, TrainDraws.of(0, 0)):
        assert images.dtype == torch.uint8


def test_a_partner_half_as_bright_teaches_the_same(tmp_path, bars):
    """Its own statistics halve too, so that the network sees the same; only the last bits of the floats differ."""
    noise = np.random.default_rng(0).integers(0, 128, (24, 20, 20, 3)).astype(np.uint8)
    histories = []
    for name, factor in (("bright", 2), ("dark", 1)):
        held = {"images": noise * factor, "labels": np.zeros(24, np.int64), "classes": np.array(["noise"])}
        partner = from_arrays(held, f"arrays:{name}.npz", name)
        (path,) = train(RECIPE, bars(48), tmp_path / name, partner=partner)
        histories.append([row["loss"] for row in read_card(path)["history"]])
    assert histories[0] == pytest.approx(histories[1], abs=1e-3)
    (path,) = train(RECIPE, bars(48), tmp_path / "none")
    assert [row["loss"] for row in read_card(path)["history"]] != pytest.approx(histories[0], abs=1e-3)


def test_an_attack_moves_a_pixel_outside_the_range_no_further_out():
    clean = torch.tensor([-40.0, 0, 250, 300]).view(1, 1, 1, 4)
    for step, wanted in ((8.0, [8, 8, 5, 0]), (-8.0, [0, 0, -8, -8])):
        assert _within_range(clean, torch.full_like(clean, step)).flatten().tolist() == wanted
