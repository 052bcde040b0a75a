"""The GPU's kernels for draws give the very bits of the tensor operations."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from snellen.distort import View, parse
from snellen.distort.draws import NORMAL_BITS, in_one_kernel, normal_table

from .interpreter import DEVICE, run_interpreted, runs_kernels, starts_interpreter


def view_of(count: int, device: torch.device = DEVICE) -> View:
    return View.of([f"image {row}" for row in range(count)], seed=3, device=device)


@runs_kernels
@pytest.mark.parametrize("count", [1, 1023, 1025, 2500])
def test_hashes_are_those_of_numpy(count: int) -> None:
    from snellen.distort.draw_kernels import hash_words

    draw = view_of(5).draw
    made = hash_words(draw.key_tensor("fill"), count).cpu().numpy()
    np.testing.assert_array_equal(made.view(np.uint64), draw.bits("fill", count))


@runs_kernels
@pytest.mark.parametrize("sigma", [0, 0.01, 0.3, 10])  # with the last products leave 32 bits
@pytest.mark.parametrize("side", [1, 7, 32])
def test_noise_is_that_of_the_cpu(sigma: float, side: int) -> None:
    from snellen.distort.draw_kernels import add_noise

    images = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (4, 3, side, side + 2), dtype=np.uint8))
    levels = torch.full((4,), round(sigma * 255 * 256), dtype=torch.int32, device=DEVICE)
    keys, table = view_of(4).draw.key_tensor("noise"), normal_table(DEVICE)
    made = add_noise(images.to(DEVICE), keys, levels, table, NORMAL_BITS + 8).cpu()
    expected = parse(f"noise({sigma})")(images, view_of(4, torch.device("cpu")))
    assert torch.equal(made, expected)
    assert (sigma == 0) == torch.equal(made, images)


@pytest.mark.skipif(DEVICE.type == "cpu", reason="needs a CUDA device")
@pytest.mark.parametrize("text", ["noise(0.1)", "occlude(0.5, noise)"])
def test_large_batches_use_them(text: str) -> None:
    images = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (300, 3, 128, 100), dtype=np.uint8))
    assert in_one_kernel(DEVICE, images.numel() // 8)
    away = parse(text)(images.to(DEVICE), view_of(len(images))).cpu()
    assert torch.equal(away, parse(text)(images, view_of(len(images), torch.device("cpu"))))


def test_no_kernel_on_a_cpu() -> None:
    assert not in_one_kernel(torch.device("cpu"), 1 << 40)


@starts_interpreter
def test_the_kernels_under_the_interpreter() -> None:
    assert "17 passed, 3 skipped" in run_interpreted(__file__)  # this test, and the two of a GPU
