"""Chains of photometric stages as programs of numbers, so that a GPU can edit each image of a batch by another chain at once.

Stage by stage a chain is dozens of small kernels, which on a fast GPU take longer to start than a small network takes to answer.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.chain import Nothing, stages_of
from snellen.distort.distortion import Distortion
from snellen.distort.law import Law
from snellen.distort.photometric.enhancements import Colour, Grayscale, Sharpness
from snellen.distort.photometric.statistics import Autocontrast, Contrast, Equalize
from snellen.distort.photometric.tables import Invert, Posterize, Tabular
from snellen.distort.view import View
from snellen.extras import runs_triton
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_MOST_PIXELS = 1 << 23  # of an image: sums of its values fit 32 bits, and numbers of pixels a float32


class Step(IntEnum):
    """What the kernel does in one step, and what its number says."""

    NOTHING = 0
    TABLE = 1  # which of the tables
    CONTRAST = 2  # the factor
    AUTOCONTRAST = 3  # how many pixels are left out at either end
    EQUALIZE = 4
    GRAYSCALE = 5
    COLOUR = 6  # the factor
    SHARPNESS = 7  # the factor


@dataclass(frozen=True)
class Programs:
    """One program per chain: `codes` int32 and `numbers` float32 [P, steps], `tables` uint8 [K, 3, 256], on one device."""

    codes: Tensor
    numbers: Tensor
    tables: Tensor

    def __call__(self, images: Tensor, rows: Tensor, owners: Tensor) -> Tensor:
        """uint8 [n, 3, H, W]: the images of some `rows` [n], each edited by the program that `owners` [n] names."""
        from snellen.distort.photometric.kernel import develop_each

        with torch.cuda.device_of(images):  # a kernel starts on the current GPU, whichever one its data are on
            return develop_each(images, rows, self, owners)


def programs_for(chains: Sequence[Distortion], images: Tensor) -> Programs | None:
    """The chains as programs, where the images are on a GPU and every stage is photometric and draws nothing; else None."""
    return write_programs(chains, images) if runs_triton(images.device) else None


def write_programs(chains: Sequence[Distortion], images: Tensor) -> Programs | None:
    """The same on any device."""
    pixels = images.shape[-2] * images.shape[-1]
    stages = [stages_of(chain) for chain in chains]
    if pixels > _MOST_PIXELS or not all(_writable(stage) for some in stages for stage in some):
        return None
    steps = max(map(len, stages), default=0)
    codes, numbers = np.zeros((len(chains), steps), np.int32), np.zeros((len(chains), steps), np.float32)
    tables: dict[Distortion, int] = {}
    for row, some in enumerate(stages):
        for column, stage in enumerate(some):
            codes[row, column] = _CODES.get(type(stage), Step.TABLE)
            if codes[row, column] == Step.TABLE:
                numbers[row, column] = tables.setdefault(stage, len(tables))
            elif isinstance(stage, Autocontrast):
                numbers[row, column] = int(pixels * stage.cutoff // 100)
            else:
                numbers[row, column] = getattr(stage, "factor", 0)
    rows = np.stack([_table(stage) for stage in tables]) if tables else np.zeros((1, 3, 256), np.uint8)
    return Programs(*(torch.from_numpy(array).to(images.device, non_blocking=True) for array in (codes, numbers, rows)))


@functools.lru_cache(maxsize=4096)
def _writable(stage: Distortion) -> bool:
    known = isinstance(stage, Tabular | Posterize | Invert) or type(stage) in _CODES
    return known and not any(isinstance(value, Law) for value in vars(stage).values())


_CODES: dict[type[Distortion], Step] = {  # all other photometric stages are tables
    Nothing: Step.NOTHING,
    Contrast: Step.CONTRAST,
    Autocontrast: Step.AUTOCONTRAST,
    Equalize: Step.EQUALIZE,
    Grayscale: Step.GRAYSCALE,
    Colour: Step.COLOUR,
    Sharpness: Step.SHARPNESS,
}


@functools.lru_cache(maxsize=4096)
def _table(stage: Distortion) -> np.ndarray:
    """uint8 [3, 256]: what becomes of each value in each channel, as the stage itself does it to an image of all values."""
    every = torch.arange(256, dtype=torch.uint8).expand(1, 3, 1, 256).contiguous()
    return stage(every, View.of([""])).reshape(3, 256).numpy()
