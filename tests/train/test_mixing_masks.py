"""FMix masks against the published procedure: its numbers, its counts, its ramp."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import kstest

from snellen.train import Recipe
from snellen.train.batches import Feed
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.draws import TrainDraws
from snellen.train.mixing import FMix, RandomMasks, of_run, parse_mix
from snellen.train.mixing.masks import fixed_masks, own_pixel_counts, ramp

PUBLISHED_ROWS = [32] * 5 + [31, 24, 20, 16, 11, 4] + [0] * 11 + [4, 7, 9, 11, 15, 20] + [32] * 4


def draws(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_published_mask_of_seed_0_comes_out_row_by_row():
    legacy = np.random.RandomState(0)
    weights = legacy.beta(1, 1, size=1)
    assert weights[0] == pytest.approx(0.44912526447830964, abs=1e-15)
    noise = torch.from_numpy(legacy.randn(1, 32, 17, 2)[:, :2]).float()  # the slip reads two rows of the draw
    kept = np.ceil(weights * 1024).astype(np.int64)  # the first coin of random.seed(0) is 0.84: up
    mask = FMix().masks(noise, weights, kept, (32, 32))[0]
    assert mask.sum(1).tolist() == PUBLISHED_ROWS
    assert int(mask.sum()) == 460


def test_a_coin_decides_between_rounding_up_and_down():
    weights = np.full(4000, 0.4491)
    kept = own_pixel_counts(weights, 1024, draws(0))
    assert set(kept.tolist()) == {459, 460}
    assert np.mean(kept == 460) == pytest.approx(0.5, abs=0.04)
    assert own_pixel_counts(np.array([0.0, 0.25, 1.0]), 1024, draws(1)).tolist() == [0, 256, 1024]


@pytest.mark.parametrize("weight", [0.0, 0.03, 0.3, 0.5, 0.81, 1.0])
@pytest.mark.parametrize("soft", [0.001, 0.1, 0.5])
def test_a_soft_mask_equals_the_published_ramp_written_out(weight, soft):
    field = torch.randn(1, 7, 9, generator=draws(0))
    kept = int(np.ceil(weight * 63))
    order = field.flatten().numpy().argsort()[::-1]
    half = int(63 * min(soft, weight, 1 - weight))
    expected = np.zeros(63)
    expected[order[: kept + half]] = 1
    expected[order[kept - half : kept + half]] = np.linspace(1, 0, 2 * half)
    found = ramp(field, np.array([kept]), np.array([weight]), soft)
    np.testing.assert_allclose(found.flatten().numpy(), expected, atol=1e-6)


def test_a_soft_mix_is_float_and_between_its_two_images():
    images = torch.zeros(4, 3, 32, 32, dtype=torch.uint8)
    images[0] = 255
    mixed, targets = FMix(soft=0.3, per="sample")(images, torch.arange(4), draws(0))
    assert mixed.dtype == torch.float32
    moved = targets.partner != targets.own
    share = torch.where(targets.own == 0, targets.weight, 1 - targets.weight)
    lit = moved & ((targets.own == 0) | (targets.partner == 0))
    assert lit.sum() == 2
    torch.testing.assert_close(mixed[lit].mean((1, 2, 3)) / 255, share[lit], atol=0.002, rtol=0)
    assert len(mixed[lit][0].unique()) > 20


def test_one_mask_a_batch_or_one_an_image():
    images = torch.arange(12, dtype=torch.uint8)[:, None, None, None].expand(12, 3, 32, 32).contiguous()
    for per, kinds in (("batch", 1), ("sample", 12)):
        mixed, targets = FMix(per=per)(images, torch.arange(12), draws(8))
        moved = targets.partner != targets.own
        covers = {tuple(cover.flatten().tolist()) for cover in (mixed != images)[moved][:, 0]}
        assert len(covers) == min(kinds, int(moved.sum()))
        assert len(set(targets.weight.tolist())) == kinds


@pytest.mark.parametrize("spectrum", ["official", "isotropic"])
def test_masks_are_in_few_pieces_and_a_smaller_decay_breaks_them_up(spectrum):
    def edges(decay: float) -> float:
        images = torch.zeros(64, 3, 32, 32, dtype=torch.uint8)
        mix = FMix(decay=decay, spectrum=spectrum, per="sample")
        mixed, _ = mix(images, torch.arange(64), draws(1), torch.ones_like(images))
        return float((mixed[:, 0].float().diff(dim=1) != 0).float().mean())

    assert edges(3) < 0.1
    assert edges(0.5) > 2 * edges(3)


def test_random_masks_are_k_fixed_ones_each_with_its_own_weight():
    images = torch.arange(6, dtype=torch.uint8)[:, None, None, None].expand(6, 3, 32, 32).contiguous()
    mix, generator, found, counts = RandomMasks(k=3, seed=4), draws(0), {}, {}
    for _ in range(300):
        mixed, targets = mix(images, torch.arange(6), generator)
        row = int((targets.partner != targets.own).nonzero()[0])
        weight = float(targets.weight[0])
        cover = mixed[row, 0] != images[row, 0]
        assert torch.equal(found.setdefault(weight, cover), cover)
        counts[weight] = counts.get(weight, 0) + 1
        assert float(cover.float().mean()) == pytest.approx(1 - weight, abs=1.01 / 1024)
    assert len(found) == 3
    assert min(counts.values()) > 70
    others = {float(RandomMasks(seed=5)(images, torch.arange(6), draws(i))[1].weight[0]) for i in range(20)}
    assert len(others) == 3
    assert not others & set(found)


@pytest.mark.parametrize("reformulated", [False, True])
def test_the_shares_of_fixed_masks_follow_the_beta_of_the_objective(reformulated):
    """Only the first label counts in the reformulated objective, so that its images keep more: Beta(α + 1, α), mean 2/3 for 1."""
    shares, own = fixed_masks(RandomMasks(k=2000), 6, 6, reformulated, torch.device("cpu"))
    assert kstest(shares, "beta", (1 + reformulated, 1)).pvalue > 1e-4
    assert own.float().mean((1, 2)).numpy() == pytest.approx(np.array(shares), abs=1.01 / 36)


def test_each_run_draws_its_own_random_masks():
    """Run 0 has those of the text form, run 2 those of the seed that is two higher; inside an alternator too."""
    assert of_run(RandomMasks(seed=4), 0) == RandomMasks(seed=4)
    assert of_run(RandomMasks(seed=4), 2) == RandomMasks(seed=6)
    assert of_run(RandomMasks(seed=1), 2**63 - 1).seed == 0
    assert of_run(parse_mix("alternate(cutmix, random_masks)"), 3) == parse_mix(
        "alternate(cutmix, random_masks(seed=3))"
    )
    assert of_run(FMix(), 3) == FMix()


def test_training_shows_the_masks_of_the_run():
    """Black images with white partners show the masks: other ones in a run with another seed."""

    def covers(seed: int) -> set[bytes]:
        black, white = (
            ImagesInMemory(torch.full((8, 3, 16, 16), grey, dtype=torch.uint8), torch.zeros(8, dtype=torch.long))
            for grey in (0, 255)
        )
        recipe = Recipe(
            epochs=20, batch_size=8, mix="random_masks", objective="reformulated", seed=seed, flip=False, padding=0
        )
        feed = Feed(recipe, black, [0.0] * 3, white)
        batches = (batch for epoch in range(20) for batch in feed.epoch(epoch, TrainDraws.of(0, epoch)))
        return {images[0, 0].numpy().tobytes() for _, images, _ in batches}

    first, second = covers(0), covers(1)
    assert len(first) == len(second) == 3
    assert not first & second
