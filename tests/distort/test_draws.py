"""Draws: a standard generator, uniform and independent, the same for a sample wherever it is drawn."""

from __future__ import annotations

import numpy as np
import torch
from scipy import stats

from snellen.data.keys import sample_keys
from snellen.distort.draws import NORMAL_BITS, Draws, _mixed, _mixed_tensor


def draws(count: int = 1, seed: int = 0, stage: int = 0) -> Draws:
    return Draws(sample_keys([str(i) for i in range(count)]), seed, stage, torch.device("cpu"))


def test_the_mixing_function_is_splitmix64() -> None:
    """First outputs of the reference splitmix64 from state 0 and from state 1234567."""
    golden = 0x9E3779B97F4A7C15
    states = np.array([golden, 2 * golden % 2**64, (1234567 + golden) % 2**64], dtype=np.uint64)
    assert _mixed(states).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 6457827717110365317]


def test_tensor_and_array_mixing_agree_to_the_bit() -> None:
    words = np.random.default_rng(0).integers(0, 2**63, 1000, dtype=np.int64) * 2 + 1
    expected = _mixed(words.view(np.uint64)).view(np.int64)
    assert np.array_equal(_mixed_tensor(torch.from_numpy(words.copy())).numpy(), expected)


def test_uniform_draws_are_uniform_over_samples() -> None:
    assert stats.kstest(draws(20000).uniform("x"), "uniform").pvalue > 1e-3


def test_names_stages_seeds_and_attempts_give_independent_draws() -> None:
    one = draws(5000).uniform("x")
    others = (
        draws(5000).uniform("y"),
        draws(5000, stage=1).uniform("x"),
        draws(5000, seed=1).uniform("x"),
        draws(5000).uniform("x", attempt=1),
    )
    for other in others:
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.06


def test_permutations_are_uniform() -> None:
    seen = draws(6000).permutation("p", 3) @ [9, 3, 1]
    _, counts = np.unique(seen, return_counts=True)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-3


def test_normal_draws_are_normal_up_to_the_cut() -> None:
    seen = draws(50).normal("n", (40, 50)).flatten().numpy() / 2**NORMAL_BITS
    assert stats.kstest(seen, "norm").pvalue > 1e-3
    assert np.abs(seen).max() < 4.4


def test_bytes_are_uniform() -> None:
    counts = np.bincount(draws(50).bytes("b", (3, 40, 41)).flatten().numpy(), minlength=256)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_integers_stay_below_their_count_and_reach_it() -> None:
    count = np.array([1, 2, 5] * 1000)
    seen = draws(3000).integer("i", count)
    assert (seen < count).all()
    assert set(seen[2::3]) == {0, 1, 2, 3, 4}
