"""Mixes by masks of irregular shape: FMix, and the few fixed ones of Random Masks."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.fourier import Spectrum, brightest, low_frequency_field, noise_shape
from snellen.lazy_torch import torch
from snellen.notation import expect_at_most
from snellen.train.mixing.batch import Batch, beta, expect_above_zero, mix_text, mixed
from snellen.train.mixing.targets import Targets

if TYPE_CHECKING:
    from torch import Tensor

MOST_MASKS = 10_000


@dataclass(frozen=True)
class FMix:
    """FMix (Harris et al. 2020): a mask cut from a random low-frequency image says which pixels are the partner's.

    The own image keeps its share λ ~ Beta(α, α) of the pixels, to within one (a coin rounds up or down); the weight is
    λ. `decay` is the power by which amplitudes fall with frequency. `spectrum=official` is what the public code does
    (only two horizontal frequencies, by an indexing slip that all published results share), `isotropic` what the
    paper describes. `soft` is the largest half-width of a ramp between the two, as a share of all pixels; 0 copies
    pixels, so that label maps move along. `per=batch` draws one λ and one mask per batch, `sample` one per image.
    """

    alpha: float = 1.0
    decay: float = 3.0
    spectrum: Spectrum = "official"
    soft: float = 0.0
    per: Literal["batch", "sample"] = "batch"
    name: ClassVar[str] = "fmix"

    __str__ = mix_text
    __call__ = mixed

    def __post_init__(self) -> None:
        expect_above_zero(alpha=self.alpha, decay=self.decay)
        if not 0 <= self.soft <= 0.5:
            raise ValueError(f"expected soft in [0, 0.5], got {self.soft:g}")

    def mix(self, batch: Batch) -> tuple[Tensor, Targets]:
        count, height, width = batch.shape
        weights = batch.weights(self.alpha, count if self.per == "sample" else 1)
        pair = batch.pair()
        own_pixels = own_pixel_counts(weights, height * width, batch.draws)
        noise = torch.randn(len(weights), *noise_shape(self.spectrum, height, width), generator=batch.draws)
        masks = self.masks(batch.send(noise.numpy()), weights, own_pixels, (height, width))
        share = batch.send(weights.astype(np.float32))
        return pair.faded(masks, share) if self.soft else pair.chosen(masks, share)

    def masks(self, noise: Tensor, weights: np.ndarray, own_pixels: np.ndarray, size: tuple[int, int]) -> Tensor:
        """[N, H, W], bool or, if soft, float: the own share of each pixel, from normal draws [N, *noise_shape]."""
        field = low_frequency_field(noise, self.spectrum, *size, self.decay)
        return ramp(field, own_pixels, weights, self.soft) if self.soft else brightest(field, own_pixels)


@dataclass(frozen=True)
class RandomMasks:
    """Random Masks (RM, Marcu et al. 2022): FMix with `k` masks drawn once, each with its own share λ.

    Every batch takes one of them, all alike likely, for all its images; the weight is that mask's λ. The masks depend
    on the fields and the images' size alone. In training each run draws its own, as the published ones did: the run's seed is
    added to `seed`. Label maps move along.
    """

    k: int = 3
    alpha: float = 1.0
    decay: float = 3.0
    seed: int = 0
    name: ClassVar[str] = "random_masks"

    __str__ = mix_text
    __call__ = mixed

    def __post_init__(self) -> None:
        expect_above_zero(alpha=self.alpha, decay=self.decay)
        if self.k < 1:
            raise ValueError(f"expected k of at least 1, got {self.k}")
        expect_at_most(MOST_MASKS, k=self.k)
        if self.seed < 0:
            raise ValueError(f"expected seed of at least 0, got {self.seed}")

    def mix(self, batch: Batch) -> tuple[Tensor, Targets]:
        _, height, width = batch.shape
        shares, masks = fixed_masks(self, height, width, batch.reformulated, batch.images.device)
        which = int(batch.integers(1, self.k)[0])
        return batch.pair().chosen(masks[which : which + 1], shares[which])


@functools.lru_cache(maxsize=16)
def fixed_masks(
    masks: RandomMasks, height: int, width: int, reformulated: bool, device: torch.device
) -> tuple[list[float], Tensor]:
    """The shares λ and the masks bool [k, H, W], true where an image keeps its own pixels; made on the CPU."""
    draws = torch.Generator().manual_seed(masks.seed)
    shares = beta(masks.alpha + reformulated, masks.alpha, masks.k, draws)
    own_pixels = own_pixel_counts(shares, height * width, draws)
    noise = torch.randn(masks.k, *noise_shape("official", height, width), generator=draws)
    own = brightest(low_frequency_field(noise, "official", height, width, masks.decay), own_pixels)
    return shares.tolist(), own.to(device)


def own_pixel_counts(weights: np.ndarray, pixels: int, draws: torch.Generator) -> np.ndarray:
    """int64 [N]: weights · pixels, rounded up or down by the toss of a coin."""
    up = torch.randint(2, (len(weights),), generator=draws).numpy().astype(bool)
    return np.where(up, np.ceil(weights * pixels), np.floor(weights * pixels)).astype(np.int64)


def ramp(field: Tensor, own_pixels: np.ndarray, weights: np.ndarray, soft: float) -> Tensor:
    """float [N, H, W]: 1 for the brightest pixels, 0 for the darkest, falling linearly in rank round the cut.

    The ramp has 2 · int(min(soft, λ, 1 − λ) · pixels) steps, the first 1 and the last 0, half on each side of `own_pixels`.
    """
    flat = field.flatten(1)
    rank = flat.argsort(dim=1, descending=True, stable=True).argsort(dim=1).float()
    half = np.floor(np.minimum(soft, np.minimum(weights, 1 - weights)) * flat.shape[1])
    # Without a ramp the cut lies between two ranks, and any slope of at least 1 per rank is a step.
    last = np.where(half > 0, own_pixels + half - 1, own_pixels - 0.5)
    slope = np.where(half > 0, 1 / np.maximum(2 * half - 1, 1), 2.0)
    ends = torch.from_numpy(np.stack([last, slope]).astype(np.float32))
    ends = ends.pin_memory().to(field.device, non_blocking=True) if field.device.type == "cuda" else ends
    return ((ends[0][:, None] - rank) * ends[1][:, None]).clamp_(0, 1).view_as(field)
