"""Covers of irregular shape, cut from low-frequency images (FMix masks)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.draws import NORMAL_BITS, on_device
from snellen.distort.fills import Fill, Painting
from snellen.distort.law import Law, expect_within, percent_in_words
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


DECAY = 3  # amplitude falls with the third power of the frequency, as published
SAMPLED = 17  # every 17th pixel is a fair sample: a step that divides no usual width meets every column
Spectrum = Literal["official", "isotropic"]


@dataclass(frozen=True)
class Fourier(Painting):
    """Cover the brightest pixels of a random low-frequency image.

    `area` is the covered share, 0 to 1 (exact to a pixel), or a law of it. `spectrum=official` is what the public FMix
    code does (only two horizontal frequencies, by an indexing slip that all published results share);
    `isotropic` is what its paper describes.
    """

    area: float | Law = 0.3
    fill: Fill = "black"
    spectrum: Spectrum = "official"
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    identity: ClassVar[dict[str, object]] = {"area": 0}
    cover_name: ClassVar[str] = "Fourier masks"
    floating: ClassVar[bool] = True  # rare pixels may differ between machines

    def __post_init__(self) -> None:
        expect_within("area", self.area, 0, 1)

    def cover(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W]."""
        height, width = images.shape[2:]
        draws = view.draw.normal("spectrum", noise_shape(self.spectrum, height, width))
        field = low_frequency_field(draws.float() / 2**NORMAL_BITS, self.spectrum, height, width)
        count = np.rint(view.parameter("area", self.area) * height * width).astype(np.int64)
        return brightest(field, count)

    def words(self) -> str:
        return f"{self.fill} Fourier mask of {percent_in_words(self.area)}"


def noise_shape(spectrum: str, height: int, width: int) -> tuple[int, ...]:
    """The shape of one sample's standard normal draws: (rows or real/imaginary, frequencies, …)."""
    columns = len(_column_frequencies(width))
    return (2, columns, 2) if spectrum == "official" else (2, height, columns)


def low_frequency_field(noise: Tensor, spectrum: str, height: int, width: int, decay: float = DECAY) -> Tensor:
    """float [B, H, W]: the image whose Fourier coefficients are the noise, scaled down with frequency.

    Official: noise [B, 2, F, 2] holds the rows fy = 0 (taken as real part) and fy = 1/H (as imaginary part) of the
    documented [H, F, 2] draw; F runs down the image and the last axis is the horizontal frequencies 0 and 1.
    Isotropic: noise [B, 2, H, F] holds real and imaginary parts.
    """
    scale = _amplitudes(height, width, decay, noise.device)
    if spectrum == "official":
        scaled = noise * scale[:2, :, None]
        rows = torch.complex(scaled[:, 0], scaled[:, 1])[:, :height]
        down = torch.fft.ifft(rows, n=height, dim=1)  # [B, H, 2]
        cosine, sine = _turn(width, noise.device)
        # In place: fresh memory costs more here than the arithmetic.
        wave = (down.real[:, :, 1:] * cosine).sub_(down.imag[:, :, 1:] * sine)
        return wave.add_(down.real[:, :, :1]).div_(width)
    used = width // 2 + 1
    coefficients = torch.complex(noise[:, 0], noise[:, 1]) * scale
    return torch.fft.irfft2(coefficients[:, :, :used], s=(height, width))


def brightest(field: Tensor, count: np.ndarray) -> Tensor:
    """bool [B, H, W]: the `count` [B] largest pixels of each field; ties go to the earlier pixel."""
    flat = field.flatten(1)
    pixels = flat.shape[1]
    wanted = on_device(count, flat.device)[:, None]
    if flat.device.type == "cpu":
        least = _least_chosen(flat.numpy(), count)
        bright = flat.numpy() >= least
        if count.min(initial=1) > 0 and np.count_nonzero(bright) == count.sum():
            return torch.from_numpy(bright).view_as(field)  # no ties, which is nearly always so
        limit = torch.from_numpy(least)
    elif len(set(count.tolist())) == 1 and 0 < count[0] <= pixels:
        # One count for all: selecting is several times faster than sorting.
        limit = flat.kthvalue(pixels - int(count[0]) + 1, dim=1, keepdim=True).values
    else:
        limit = flat.sort(dim=1, descending=True).values.gather(1, (wanted - 1).clamp(min=0))
    above = flat > limit
    tied = flat == limit
    left = wanted - above.sum(1, keepdim=True)
    return (above & (wanted > 0) | tied & (tied.cumsum(1) <= left)).view_as(field)


def _least_chosen(values: np.ndarray, count: np.ndarray) -> np.ndarray:
    """[B, 1]: the count-th largest value of each row, the largest where the count is 0.

    A sorted sample tells roughly where that value lies, so that only the few values near it need sorting: of all rows
    at once, side by side in a table. Several times as fast as selecting row by row.
    """
    rows, pixels = values.shape
    rank = np.maximum(count, 1) - 1  # from the largest, which is 0
    low, high = _bracket(values, rank)
    above = values > high
    near = np.flatnonzero((values >= low) ^ above)
    row = near // pixels
    near_counts = np.bincount(row, minlength=rows)
    table = np.full((rows, max(near_counts.max(initial=0), 1)), np.inf, values.dtype)
    table[row, np.arange(len(near)) - (near_counts.cumsum() - near_counts)[row]] = values.reshape(-1)[near]
    table.sort(axis=1)
    at = near_counts - 1 - (rank - above.sum(1, dtype=np.int32))
    least = table[np.arange(rows), at.clip(0, table.shape[1] - 1)]
    for number in np.flatnonzero((at < 0) | (at >= near_counts)):  # the sample misled
        place = pixels - 1 - rank[number]
        least[number] = np.partition(values[number], place)[place]
    return least[:, None]


def _bracket(values: np.ndarray, rank: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two values [B, 1] between which the one of that rank probably lies, from a sample of each row, sorted."""
    sample = np.sort(values[:, ::SAMPLED], axis=1)
    rows, last = np.arange(len(values)), sample.shape[1] - 1
    margin = 2 + int(sample.shape[1] ** 0.5 / 4)
    first, final = last - rank // SAMPLED - margin, last - rank // SAMPLED + margin
    low = np.where(first >= 0, sample[rows, first.clip(0, last)], -np.inf)
    high = np.where(final <= last, sample[rows, final.clip(0, last)], np.inf)
    return low[:, None], high[:, None]


def _column_frequencies(width: int) -> np.ndarray:
    """The horizontal frequencies of the published half-plane: W//2 + 1 of them, W//2 + 2 where W is odd."""
    return np.fft.fftfreq(width)[: width // 2 + 1 + width % 2]


@functools.lru_cache(maxsize=8)
def _turn(width: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Twice the cosine and twice the sine of one turn along a row, float32 [W]; doubling is exact."""
    angle = torch.arange(width, device=device) * (2 * torch.pi / width)
    return torch.cos(angle) * 2, torch.sin(angle) * 2


@functools.lru_cache(maxsize=8)
def _amplitudes(height: int, width: int, decay: float, device: torch.device) -> Tensor:
    """float [H, F]: 1 / max(f, 1 / max(H, W))^decay."""
    f = np.hypot(np.fft.fftfreq(height)[:, None], _column_frequencies(width))
    return torch.from_numpy(1.0 / np.maximum(f, 1.0 / max(height, width)) ** decay).float().to(device)
