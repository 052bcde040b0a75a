"""The information bottleneck (Schulz et al. 2020): how much passes each neuron, and how noise is fitted in its place.

Noise takes the place of features as far as the answers allow it, for many images at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.errors import UserError
from snellen.explain.feature_grid import finite
from snellen.explain.noise import NoiseOfImages
from snellen.explain.splice import Splice
from snellen.explain.statistics import FeatureStatistics
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

SMALLEST_SHARE = 1e-7  # of noise: where none is left, the capacity has no end
INITIAL = 5.0  # of alpha: λ = sigmoid(5) = 0.993, so that almost everything passes at first
SMALLEST_STD = 0.01
NATS = 0.6931471805599453  # in a bit
PIXELS_AT_ONCE = {
    "cpu": 2**21,
    "cuda": 2**26,
}  # of all copies that are gone through together; 40 and 1,300 at 224 pixels


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


@dataclass(frozen=True)
class Bottleneck:
    """How a bottleneck is fitted: `beta` weighs bits against the answer's loss, `copies` are noisy ones per image and step,
    `sigma` smooths over places, `lr` is Adam's. The map is what the last step starts from, as in the published code."""

    beta: float = 10.0
    steps: int = 10
    lr: float = 1.0
    copies: int = 10
    sigma: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.steps < 1 or self.copies < 1:
            raise ValueError(f"expected steps and copies of at least 1, got {self.steps} and {self.copies}")
        if self.sigma < 0:
            raise ValueError(f"expected sigma of at least 0, got {self.sigma:g}")


@dataclass(frozen=True)
class BottleneckFit:
    """A bottleneck at the layer of a splice, whose noise imitates what is usual there."""

    splice: Splice
    statistics: FeatureStatistics
    how: Bottleneck
    probabilities: bool = False  # what the network answers; else logits

    def maps(self, pixels: Tensor, classes: Tensor, seeds: Sequence[int]) -> Tensor:
        """Bits per place [B, h, w] that the answers `classes` [B] need, some images at a time, as memory allows."""
        most = PIXELS_AT_ONCE.get(pixels.device.type, PIXELS_AT_ONCE["cpu"])
        at_once = max(1, most // (self.how.copies * pixels.shape[2] * pixels.shape[3]))
        parts: list[Tensor] = []
        start = 0
        while start < len(pixels):
            some = slice(start, start + at_once)
            try:
                parts.append(self._bits(pixels[some], classes[some], seeds[some]))
            except torch.OutOfMemoryError:
                if at_once == 1:
                    raise
                at_once = min(at_once, len(pixels) - start) // 2 or 1
                torch.cuda.empty_cache()
                continue
            start += at_once
        return torch.cat(parts)

    def _bits(self, pixels: Tensor, classes: Tensor, seeds: Sequence[int]) -> Tensor:
        """Of one batch; each image's alpha, noise and loss are its own."""
        how, known = self.how, self.statistics
        features = self.splice.features(pixels)
        if features.shape[1:] != known.mean.shape:
            raise UserError(
                f"what is usual was estimated for features of {list(known.mean.shape)}, and these images have "
                f"{list(features.shape[1:])}; estimate from images of the same size and layer"
            )
        usual = _Usual(known, features)
        smooth = Smoothing((features.shape[2], features.shape[3]), how.sigma, features.device)
        noise = NoiseOfImages(seeds, features.device)
        wanted = classes.repeat_interleave(how.copies)
        alpha = torch.full_like(features, INITIAL).requires_grad_()
        adam = torch.optim.Adam([alpha], lr=how.lr)
        for step in range(how.steps):
            with torch.enable_grad():
                share = smooth(alpha.sigmoid())
                information = capacity(share, usual.distance) * usual.active
                if step == how.steps - 1:
                    break
                passed = usual.mix(share, noise.draw(how.copies, features))
                losses = self._losses(self.splice.answers(pixels, passed), wanted)
                loss = losses.sum() / how.copies + how.beta * information.mean((1, 2, 3)).sum()
                (alpha.grad,) = torch.autograd.grad(loss, alpha)
            adam.step()
        return finite(information.detach()).sum(1) / NATS

    def _losses(self, answers: Tensor, wanted: Tensor) -> Tensor:
        """The cross entropy of each answer."""
        if self.probabilities:
            tiny = torch.finfo(torch.float32).tiny
            return torch.nn.functional.nll_loss(answers.float().clamp(min=tiny).log(), wanted, reduction="none")
        return torch.nn.functional.cross_entropy(answers.float(), wanted, reduction="none")


class _Usual:
    """The features of a batch beside what is usual: how far each neuron is from it, and how the two are mixed."""

    def __init__(self, known: FeatureStatistics, features: Tensor) -> None:
        self.features, self.mean, self.positive = features, known.mean, known.positive
        self.std = known.std.nan_to_num(0.0).clamp(min=SMALLEST_STD)
        self.distance = (features - self.mean) / self.std
        self.active = known.active.to(features.dtype)

    def mix(self, share: Tensor, noise: Tensor) -> Tensor:
        """[B · copies, channels, h, w]: λ x + (1 − λ) ε with ε ~ N(mean, std²), of noise N(0, 1) [B, copies, …].

        Neurons that are never active stay 0, and so does what is below 0 behind a ReLU.
        """
        usual = torch.addcmul(self.mean, noise, self.std)
        mixed = torch.lerp(usual, self.features[:, None], share[:, None]) * self.active
        return (mixed.clamp(min=0) if self.positive else mixed).flatten(0, 1)
