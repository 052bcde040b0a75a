"""Random draws that depend on (seed, sample, stage, name, attempt) and on nothing else.

A counter-based generator (splitmix64) instead of a stream: the draw of a sample is the same in any batch, order,
process or device. Per-sample draws are NumPy; per-pixel ones are integer tensors made on the images' device, so that
CPU and GPU agree to the bit.
"""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

import numpy as np

from snellen.extras import runs_triton
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor


_GOLDEN = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
_MANY = 1 << 20
NORMAL_BITS = 12  # normal draws are whole numbers of 2^-12 standard deviations


class Draws:
    """The draws of one batch at one stage of a chain; the same name twice gives the same draw."""

    def __init__(self, keys: np.ndarray, seed: int, stage: int, device: torch.device) -> None:
        self.keys, self.seed, self.stage, self.device = keys, seed, stage, device

    def bits(self, name: str, count: int = 1, attempt: int = 0) -> np.ndarray:
        """uint64 [B, count]."""
        counter = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
        return _mixed(self._keys(name, attempt)[:, None] + counter)

    def uniform(self, name: str, attempt: int = 0) -> np.ndarray:
        """float64 [B] in [0, 1)."""
        return _unit(self.bits(name, 1, attempt)[:, 0])

    def uniforms(self, name: str, count: int) -> np.ndarray:
        """float64 [B, count] in [0, 1)."""
        return _unit(self.bits(name, count, 0))

    def integer(self, name: str, count: np.ndarray | int, attempt: int = 0) -> np.ndarray:
        """int64 [B], uniform over 0 … count − 1; `count` may differ by sample."""
        return np.floor(self.uniform(name, attempt) * count).astype(np.int64)

    def gaussian(self, name: str, attempt: int = 0) -> np.ndarray:
        """float64 [B]: standard normal draws."""
        from scipy.special import ndtri

        return ndtri(np.maximum(self.uniform(name, attempt), 2.0**-54))  # of 0 it would be infinite

    def permutation(self, name: str, count: int, attempt: int = 0) -> np.ndarray:
        """int64 [B, count], each row a uniform permutation."""
        return np.argsort(self.bits(name, count, attempt), axis=1, kind="stable")

    def bytes(self, name: str, shape: tuple[int, ...], attempt: int = 0) -> Tensor:
        """uint8 [B, *shape], uniform, on the images' device."""
        return self._words(name, shape, attempt, torch.uint8)

    def normal(self, name: str, shape: tuple[int, ...], attempt: int = 0) -> Tensor:
        """int32 [B, *shape]: standard normal draws in units of 2^-12, cut at about 4.3 deviations.

        Looked up in a table by 16 random bits: whole numbers, so the same on every device, and faster than logarithms.
        """
        words = self._words(name, shape, attempt, torch.int16)
        table = normal_table(self.device)
        return table.index_select(0, words.reshape(-1).to(torch.int32) + 32768).view(words.shape)

    def _keys(self, name: str, attempt: int) -> np.ndarray:
        return _mixed(self.keys ^ np.uint64(_word(f"{self.seed}/{self.stage}/{name}/{attempt}")))

    def _words(self, name: str, shape: tuple[int, ...], attempt: int, kind: torch.dtype) -> Tensor:
        """Uniform words of 8 or 16 bits, taken from 64-bit hashes of (key, counter)."""
        size = int(np.prod(shape))
        per = 8 // kind.itemsize
        rounded = -(-size // per)
        return self._hashes(self.key_tensor(name, attempt), rounded).view(kind)[:, :size].reshape(-1, *shape)

    def key_tensor(self, name: str, attempt: int = 0) -> Tensor:
        """int64 [B]: what the draws of a name start from, on the images' device."""
        return on_device(self._keys(name, attempt).view(np.int64), self.device)

    def _hashes(self, keys: Tensor, count: int) -> Tensor:
        """int64 [B, count]."""
        if in_one_kernel(self.device, len(keys) * count):
            from snellen.distort.draw_kernels import hash_words

            return hash_words(keys, count)
        return _mixed_tensor(keys[:, None] + _counters(count, self.device))


def on_device(values: np.ndarray, device: torch.device) -> Tensor:
    """An array as a tensor on a device; by way of pinned memory to a GPU, so that nothing waits for it to be idle."""
    tensor = torch.from_numpy(np.ascontiguousarray(values))
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def in_one_kernel(device: torch.device, draws: int) -> bool:
    """Whether so many draws are worth a kernel of their own, which takes a moment to load, and the device has it."""
    return draws >= _MANY and runs_triton(device)


def _mixed(x: np.ndarray) -> np.ndarray:
    """splitmix64's finaliser on uint64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    return x ^ (x >> np.uint64(31))


def _mixed_tensor(x: Tensor) -> Tensor:
    """The same on int64 tensors, in place; torch shifts keep the sign, so the copied sign bits are masked away."""
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        x ^= (x >> shift).bitwise_and_((1 << (64 - shift)) - 1)
        x *= _signed(factor)
    x ^= (x >> 31).bitwise_and_((1 << 33) - 1)
    return x


def _signed(x: int) -> int:
    return x - (1 << 64) if x >> 63 else x


def _unit(bits: np.ndarray) -> np.ndarray:
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53


@functools.lru_cache(maxsize=4096)
def _word(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


@functools.lru_cache(maxsize=16)
def _counters(count: int, device: torch.device) -> Tensor:
    return torch.arange(1, count + 1, dtype=torch.int64, device=device) * _signed(_GOLDEN)


@functools.lru_cache(maxsize=4)
def normal_table(device: torch.device) -> Tensor:
    """The normal quantiles of the 65,536 cell centres, as whole numbers of 2^-12."""
    from scipy.special import ndtri

    quantiles = ndtri((np.arange(65536) + 0.5) / 65536)
    return torch.from_numpy(np.rint(quantiles * 2**NORMAL_BITS).astype(np.int32)).to(device)
