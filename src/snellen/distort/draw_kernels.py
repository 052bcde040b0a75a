"""Two GPU kernels for draws per pixel: the same bits as the tensor operations of `draws` and `noise`, in one pass over memory.

Written by hand, in Triton: as tensor operations a hash is a dozen passes over eight bytes per word, which on a fast GPU took more
time than all else beside the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import triton
import triton.language as tl

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_CHUNK = 1024


def hash_words(keys: Tensor, count: int) -> Tensor:
    """int64 [B, count]: the hashes of each key and the counters 1 … count."""
    words = torch.empty((len(keys), count), dtype=torch.int64, device=keys.device)
    launch: Any = _hash_words[(len(keys), triton.cdiv(count, _CHUNK))]
    with torch.cuda.device_of(keys):  # a kernel starts on the current GPU, whichever one its data are on
        launch(keys, words, count, CHUNK=_CHUNK)
    return words


def add_noise(images: Tensor, keys: Tensor, levels: Tensor, table: Tensor, shift: int) -> Tensor:
    """uint8 like images [B, …]: each value plus its normal draw, of `table` [65536], times `levels` [B], rounded by 2^shift."""
    images = images.contiguous()
    noisy, size = torch.empty_like(images), images[0].numel()
    launch: Any = _add_noise[(len(images), triton.cdiv(size, _CHUNK))]
    with torch.cuda.device_of(images):
        launch(images, keys, levels, table, noisy, size, SHIFT=shift, CHUNK=_CHUNK)
    return noisy


@triton.jit
def _hash(key, counter):  # type: ignore[no-untyped-def]
    """splitmix64 of a key and a counter; whole numbers wrap around."""
    x = (key + counter.to(tl.int64) * -7046029254386353131).to(tl.uint64)
    x = (x ^ (x >> 30)) * 13787848793156543929
    x = (x ^ (x >> 27)) * 10723151780598845931
    return x ^ (x >> 31)


@triton.jit
def _hash_words(keys, words, count, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * CHUNK + tl.arange(0, CHUNK)
    tl.store(words + row * count + at, _hash(tl.load(keys + row), at + 1).to(tl.int64), at < count)


@triton.jit
def _add_noise(images, keys, levels, table, noisy, size, SHIFT: tl.constexpr, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * CHUNK + tl.arange(0, CHUNK)
    # Four words of 16 bits in a hash, the lowest first; read as signed numbers they count from the middle of the table.
    word = (_hash(tl.load(keys + row), at // 4 + 1) >> (16 * (at % 4)).to(tl.uint64)).to(tl.int32) & 65535
    draw = tl.load(table + (word ^ 32768))
    noise = (draw * tl.load(levels + row) + (1 << (SHIFT - 1))) >> SHIFT
    place = row * size + at
    value = tl.load(images + place, at < size, other=0).to(tl.int32) + noise
    tl.store(noisy + place, tl.minimum(tl.maximum(value, 0), 255).to(tl.uint8), at < size)
