"""Fourier masks against the published procedure's own numbers (FACTS 1.8 and 7)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from snellen.distort import View, parse
from snellen.distort.fourier import SAMPLED, brightest, low_frequency_field, noise_shape


def test_the_official_spectrum_reproduces_the_published_mask_of_seed_0_row_by_row() -> None:
    legacy = np.random.RandomState(0)
    weight = legacy.beta(1, 1)
    assert weight == pytest.approx(0.44912526447830964, abs=1e-15)
    draws = legacy.randn(1, 32, 17, 2)
    field = low_frequency_field(torch.from_numpy(draws[:, :2]).float(), "official", 32, 32)
    mask = brightest(field, np.array([460]))[0]
    rows = [32] * 5 + [31, 24, 20, 16, 11, 4] + [0] * 11 + [4, 7, 9, 11, 15, 20] + [32] * 4
    assert mask.sum(1).tolist() == rows


def test_the_official_field_equals_a_plain_inverse_transform() -> None:
    height, width = 6, 8
    noise = np.random.default_rng(1).normal(size=(2, width // 2 + 1, 2))
    columns = np.fft.fftfreq(width)[: width // 2 + 1]
    scale = [1 / np.maximum(np.hypot(fy, columns), 1 / 8) ** 3 for fy in (0, 1 / height)]
    coefficients = np.zeros((height, width // 2 + 1), complex)
    coefficients[: width // 2 + 1, :2] = scale[0][:, None] * noise[0] + 1j * scale[1][:, None] * noise[1]
    expected = np.fft.irfftn(coefficients, (height, width))
    field = low_frequency_field(torch.from_numpy(noise)[None].float(), "official", height, width)
    np.testing.assert_allclose(field[0].numpy(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("height", "width"), [(32, 32), (33, 27), (20, 31), (31, 20)])
@pytest.mark.parametrize("spectrum", ["official", "isotropic"])
def test_the_covered_share_is_exact_to_a_pixel_for_any_size(height: int, width: int, spectrum: str) -> None:
    images = torch.zeros(16, 3, height, width, dtype=torch.uint8)
    cover = parse(f"fourier(0.37, spectrum={spectrum})").cover(images, View.of([str(i) for i in range(16)]))
    assert (cover.flatten(1).sum(1) == round(0.37 * height * width)).all()


def test_the_energy_of_official_fields_lies_in_the_horizontal_frequencies_0_and_1() -> None:
    noise = torch.randn(400, 2, 17, 2, generator=torch.Generator().manual_seed(0))
    spectrum = torch.fft.fft2(low_frequency_field(noise, "official", 32, 32)).abs().square()
    share = spectrum.sum((0, 1)) / spectrum.sum()
    assert float(share[1]) == pytest.approx(float(share[31]))
    assert float(share[1]) > 0.3
    assert float(share[2:31].sum()) < 1e-6


def test_isotropic_fields_have_edges_in_all_directions() -> None:
    """Not quite alike: the documented half-plane transform keeps half the power of the column fx = 0."""
    images = torch.zeros(400, 3, 32, 32, dtype=torch.uint8)
    cover = parse("fourier(0.5, spectrum=isotropic)").cover(images, View.of([str(i) for i in range(400)])).float()
    down, across = (float((cover.diff(dim=axis) != 0).float().mean()) for axis in (1, 2))
    assert 0.75 < down / across < 1.1


def test_masks_are_of_low_frequency() -> None:
    """A mask in one or few pieces: far fewer edges than the half of all neighbours that independent pixels would have."""
    images = torch.zeros(64, 3, 32, 32, dtype=torch.uint8)
    cover = parse("fourier(0.5, spectrum=isotropic)").cover(images, View.of([str(i) for i in range(64)])).float()
    assert float((cover.diff(dim=1) != 0).float().mean()) < 0.1


@pytest.mark.parametrize("count", [0, 1, 5, 12])
def test_brightest_takes_the_earlier_pixel_of_a_tie(count: int) -> None:
    field = torch.zeros(2, 3, 4)
    field[0, 2, 3] = 1
    chosen = brightest(field, np.array([count, count]))
    assert chosen.flatten(1).sum(1).tolist() == [count, count]
    if count:
        assert chosen[0, 2, 3]
        assert chosen[1].flatten()[:count].all()


def test_brightest_with_a_count_of_its_own_per_field_equals_sorting_by_hand() -> None:
    field = torch.randint(0, 9, (40, 5, 7), generator=torch.Generator().manual_seed(0)).float()
    count = np.arange(40) % 36
    chosen = brightest(field, count).flatten(1)
    for values, row, wanted in zip(field.flatten(1).tolist(), chosen.tolist(), count.tolist()):
        order = sorted(range(35), key=lambda i, values=values: (-values[i], i))
        assert [i for i in range(35) if row[i]] == sorted(order[:wanted])


@pytest.mark.parametrize("kind", ["smooth", "few values", "misleading sample", "flat", "waves"])
@pytest.mark.parametrize("side", [1, 7, 34, 45, 64])
def test_brightest_equals_sorting_by_hand_on_large_and_awkward_fields(kind: str, side: int) -> None:
    """Each 17th value of the third kind is the least of all, so that a sample of them says nothing."""
    random = np.random.default_rng(side)
    values = random.normal(size=(12, side * side))
    if kind == "few values":
        values = np.round(values)
    elif kind == "misleading sample":
        values[:, ::SAMPLED] -= 100
    elif kind == "flat":
        values[:] = 3
    elif kind == "waves":  # the sample meets the columns 0 and 17 alone where a row has 34 pixels
        values += 5 * np.cos(np.arange(side * side) * (2 * np.pi / side) + values[:, :1])
    pixels = side * side
    count = np.concatenate([[0, 1, 2, pixels - 1, pixels], random.integers(0, pixels + 1, 7)])
    chosen = brightest(torch.from_numpy(values).float().view(12, side, side), count).flatten(1).numpy()
    for row, picked, wanted in zip(values.astype(np.float32), chosen, count):
        expected = np.zeros(pixels, bool)
        expected[np.argsort(-row, kind="stable")[:wanted]] = True
        np.testing.assert_array_equal(picked, expected)


def test_the_noise_has_the_documented_shapes() -> None:
    assert noise_shape("official", 32, 32) == (2, 17, 2)
    assert noise_shape("isotropic", 32, 33) == (2, 32, 18)
