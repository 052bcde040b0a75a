"""One GPU kernel for programs of photometric steps: an image per block, each by its own program, the same bits as on a CPU.

Written by hand, in Triton: no library edits each image of a batch by another chain, and stage by stage the edits took longer
than the answers of a small network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import triton
import triton.language as tl

from snellen.distort.photometric.programs import Programs, Step
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_TABLE, _CONTRAST, _AUTOCONTRAST = (tl.constexpr(int(step)) for step in (Step.TABLE, Step.CONTRAST, Step.AUTOCONTRAST))
_EQUALIZE, _GRAYSCALE = tl.constexpr(int(Step.EQUALIZE)), tl.constexpr(int(Step.GRAYSCALE))
_COLOUR, _SHARPNESS = tl.constexpr(int(Step.COLOUR)), tl.constexpr(int(Step.SHARPNESS))


def develop_each(images: Tensor, rows: Tensor, programs: Programs, owners: Tensor) -> Tensor:
    """uint8 [n, 3, H, W]: the images of some `rows` [n], each edited by the program that `owners` [n] names."""
    images = images.contiguous()
    height, width = images.shape[2:]
    outcome = torch.empty((len(rows), *images.shape[1:]), dtype=torch.uint8, device=images.device)
    if not outcome.numel():
        return outcome
    smooth = torch.empty_like(outcome)
    tables = torch.empty((len(rows), 3, 256), dtype=torch.uint8, device=images.device)
    chunk = min(4096, triton.next_power_of_2(height * width))
    launch: Any = _develop[(len(rows),)]
    launch(
        images, rows, owners, programs.codes, programs.numbers, programs.tables, outcome, smooth, tables,
        programs.codes.shape[1], height, width,
        CHUNK=chunk, num_warps=max(1, min(16, chunk // 256)), enable_fp_fusion=False,  # a product is rounded before the sum
    )  # fmt: skip
    return outcome


@triton.jit
def _develop(  # type: ignore[no-untyped-def]
    images, rows, owners, codes, numbers, shared_tables, outcome, smooth, own_tables, steps, height, width, CHUNK: tl.constexpr
):  # fmt: skip
    block = tl.program_id(0).to(tl.int64)
    pixels = height * width
    here = outcome + block * 3 * pixels
    beside = smooth + block * 3 * pixels
    table = own_tables + block * 3 * 256
    row = tl.load(rows + block).to(tl.int64)
    program = tl.load(owners + block).to(tl.int64) * steps
    _copy(images + row * 3 * pixels, here, 3 * pixels, CHUNK)
    for step in range(steps):
        tl.debug_barrier()
        code = tl.load(codes + program + step)
        number = tl.load(numbers + program + step)
        if code == _TABLE:
            _look_up(here, shared_tables + number.to(tl.int64) * 768, pixels, CHUNK)
        elif code == _CONTRAST:
            _contrast_table(here, table, number, pixels, CHUNK)
            tl.debug_barrier()
            _look_up(here, table, pixels, CHUNK)
        elif code == _AUTOCONTRAST:
            for channel in range(3):
                _autocontrast_table(here + channel * pixels, table + channel * 256, number.to(tl.int32), pixels, CHUNK)
            tl.debug_barrier()
            _look_up(here, table, pixels, CHUNK)
        elif code == _EQUALIZE:
            for channel in range(3):
                _equalize_table(here + channel * pixels, table + channel * 256, pixels, CHUNK)
            tl.debug_barrier()
            _look_up(here, table, pixels, CHUNK)
        elif code == _GRAYSCALE:
            _towards_grey(here, 0.0, pixels, CHUNK)
        elif code == _COLOUR:
            _towards_grey(here, number, pixels, CHUNK)
        elif code == _SHARPNESS:
            for channel in range(3):
                _sharpen(here + channel * pixels, beside + channel * pixels, number, height, width, CHUNK)
            tl.debug_barrier()
            _copy(beside, here, 3 * pixels, CHUNK)


@triton.jit
def _copy(source, target, count, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    for start in range(0, count, CHUNK):
        at = start + tl.arange(0, CHUNK)
        tl.store(target + at, tl.load(source + at, at < count, other=0), at < count)


@triton.jit
def _look_up(plane, table, pixels, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    for channel in range(3):
        for start in range(0, pixels, CHUNK):
            at = start + tl.arange(0, CHUNK)
            place = plane + channel * pixels + at
            value = tl.load(place, at < pixels, other=0).to(tl.int32)
            tl.store(place, tl.load(table + channel * 256 + value), at < pixels)


@triton.jit
def _grey(plane, at, pixels):  # type: ignore[no-untyped-def]
    """Pillow's luminance of some pixels, 0 outside."""
    red = tl.load(plane + at, at < pixels, other=0).to(tl.int32)
    green = tl.load(plane + pixels + at, at < pixels, other=0).to(tl.int32)
    blue = tl.load(plane + 2 * pixels + at, at < pixels, other=0).to(tl.int32)
    return tl.where(at < pixels, (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16, 0)


@triton.jit
def _blend(low, high, factor):  # type: ignore[no-untyped-def]
    """Pillow's blend in float32: cut to 0…255 and rounded down."""
    blended = (high.to(tl.float32) - low.to(tl.float32)) * factor + low.to(tl.float32)
    return tl.minimum(tl.maximum(blended, 0.0), 255.0).to(tl.int32).to(tl.uint8)


@triton.jit
def _contrast_table(plane, table, factor, pixels, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    total = tl.zeros((), tl.int64)
    for start in range(0, pixels, CHUNK):
        total += tl.sum(_grey(plane, start + tl.arange(0, CHUNK), pixels)).to(tl.int64)
    mean = (2 * total + pixels) // (2 * pixels)
    value = tl.arange(0, 256)
    blended = _blend(tl.zeros_like(value) + mean.to(tl.int32), value, factor)
    for channel in range(3):
        tl.store(table + channel * 256 + value, blended)


@triton.jit
def _counts(plane, pixels, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    """How often each value occurs in a plane, int32 [256]."""
    counts = tl.zeros((256,), tl.int32)
    for start in range(0, pixels, CHUNK):
        at = start + tl.arange(0, CHUNK)
        counts += tl.histogram(tl.load(plane + at, at < pixels, other=0).to(tl.int32), 256)
    beyond = (pixels + CHUNK - 1) // CHUNK * CHUNK - pixels  # places outside the plane were counted as zeros
    return counts - tl.where(tl.arange(0, 256) == 0, beyond, 0)


@triton.jit
def _autocontrast_table(plane, table, cut, pixels, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    reach = tl.cumsum(_counts(plane, pixels, CHUNK), 0)
    first = tl.minimum(cut, pixels - 1)
    last = tl.maximum(pixels - 1 - cut, first)
    least = tl.sum((reach <= first).to(tl.int32)).to(tl.float64)
    greatest = tl.sum((reach <= last).to(tl.int32)).to(tl.float64)
    value = tl.arange(0, 256)
    spread = greatest - least
    scale = 255.0 / tl.where(spread > 0, spread, 1.0)
    stretched = value.to(tl.float64) * scale + (-least * scale)
    stretched = tl.minimum(tl.maximum(stretched, 0.0), 255.0).to(tl.int32)
    tl.store(table + value, tl.where(spread > 0, stretched, value).to(tl.uint8))


@triton.jit
def _equalize_table(plane, table, pixels, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    counts = _counts(plane, pixels, CHUNK)
    value = tl.arange(0, 256)
    last = tl.max(tl.where(counts > 0, value, 0))
    step = (pixels - tl.sum(tl.where(value == last, counts, 0))) // 255
    before = tl.cumsum(counts, 0) - counts
    spread = tl.minimum((step // 2 + before) // tl.maximum(step, 1), 255)
    tl.store(table + value, tl.where(step > 0, spread, value).to(tl.uint8))


@triton.jit
def _towards_grey(plane, factor, pixels, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    for start in range(0, pixels, CHUNK):
        at = start + tl.arange(0, CHUNK)
        grey = _grey(plane, at, pixels)
        for channel in range(3):
            place = plane + channel * pixels + at
            tl.store(place, _blend(grey, tl.load(place, at < pixels, other=0), factor), at < pixels)


@triton.jit
def _sharpen(plane, target, factor, height, width, CHUNK: tl.constexpr):  # type: ignore[no-untyped-def]
    """The blend of a plane with its smoothed self; the border stays as it is."""
    pixels = height * width
    for start in range(0, pixels, CHUNK):
        at = start + tl.arange(0, CHUNK)
        down, across = at // width, at % width
        inner = (down > 0) & (down < height - 1) & (across > 0) & (across < width - 1)
        centre = tl.load(plane + at, at < pixels, other=0).to(tl.int32)
        total = 4 * centre
        for neighbour in range(9):
            near = at + (neighbour // 3 - 1) * width + neighbour % 3 - 1
            total += tl.load(plane + near, inner, other=0).to(tl.int32)
        smooth = tl.where(inner, (2 * total + 13) // 26, centre)
        tl.store(target + at, _blend(smooth, centre, factor), at < pixels)
