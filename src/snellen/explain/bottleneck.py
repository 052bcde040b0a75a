"""The arithmetic of an information bottleneck (Schulz et al. 2020): how much passes, and over which neighbourhood."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

SMALLEST_SHARE = 1e-7  # of noise: where none is left, the capacity has no end


def capacity(share: Tensor, distance: Tensor) -> Tensor:
    """Nats that pass each neuron: KL divergence between what passes, N(λ r, (1 − λ)²), and noise, N(0, 1).

    `share` is λ, the share of the signal, and `distance` r = (x − mean) / std; nan of either stays.
    """
    variance = (1 - share).clamp(min=SMALLEST_SHARE) ** 2
    return -0.5 * (1 + variance.log() - (share * distance) ** 2 - variance)


def gaussian_weights(sigma: float) -> np.ndarray:
    """Weights float64 [n] of a Gaussian along one axis, n = 4 · sigma + 1 rounded to odd; they sum to 1."""
    reach = round(2 * sigma)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2) if sigma > 0 else np.ones(1)
    return weights / weights.sum()


def smoothing_matrix(size: int, sigma: float) -> np.ndarray:
    """float32 [size, size]: what smooths a row of values, reflected at the ends, when multiplied with it."""
    weights = gaussian_weights(sigma)
    sources = np.pad(np.arange(size), len(weights) // 2, mode="reflect")
    matrix = np.zeros((size, size))
    for place in range(size):
        np.add.at(matrix[place], sources[place : place + len(weights)], weights)
    return matrix.astype(np.float32)


class Smoothing:
    """Smooths [B, channels, h, w] over places: two small matrix products, which include the reflected border."""

    def __init__(self, places: tuple[int, int], sigma: float, device: torch.device) -> None:
        self.rows, self.columns = (torch.from_numpy(smoothing_matrix(size, sigma)).to(device) for size in places)

    def __call__(self, values: Tensor) -> Tensor:
        return torch.einsum("ij,bcjk,lk->bcil", self.rows, values, self.columns)
