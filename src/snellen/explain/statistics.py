"""What is usual at a layer: mean and spread of every neuron over many images (Welford), and which neurons are ever active.

They are kept as a file of the cache folder: safetensors, written whole and checked when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.files.weights import load_safetensors
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

RARELY = 0.01  # a neuron that is nonzero in no more than this share of the images counts as inactive


@dataclass(frozen=True)
class FeatureStatistics:
    """Of the features of `count` images: `mean` and `std` float32 [channels, h, w] (n − 1 in the denominator; nan of fewer
    than two), `active` bool [channels, h, w], and whether no feature was ever negative, as behind a ReLU."""

    mean: Tensor
    std: Tensor
    active: Tensor
    positive: bool
    count: int

    def to(self, device: torch.device) -> FeatureStatistics:
        """The same on a device."""
        return FeatureStatistics(
            self.mean.to(device), self.std.to(device), self.active.to(device), self.positive, self.count
        )


class Welford:
    """Mean and variance of features as they come, batch by batch (Welford 1962, in the form of Chan et al. 1979)."""

    def __init__(self) -> None:
        self.count = 0
        self.positive = True

    def add(self, features: Tensor) -> None:
        """Take in features [n, channels, h, w]."""
        if not len(features):
            return
        precise = features.to(torch.float32 if features.device.type == "mps" else torch.float64)
        mean = precise.mean(0)
        squares = ((precise - mean) ** 2).sum(0)
        nonzero = (features != 0).sum(0)
        self.positive = self.positive and bool((features >= 0).all())
        total = self.count + len(features)
        if not self.count:
            self.mean, self.squares, self.nonzero = mean, squares, nonzero
        else:
            change = mean - self.mean
            self.mean = self.mean + change * (len(features) / total)
            self.squares = self.squares + squares + change**2 * (self.count * len(features) / total)
            self.nonzero = self.nonzero + nonzero
        self.count = total

    def statistics(self) -> FeatureStatistics:
        """What has come so far, at least one image."""
        variance = self.squares / (self.count - 1) if self.count > 1 else torch.full_like(self.squares, torch.nan)
        active = self.nonzero > RARELY * self.count
        return FeatureStatistics(self.mean.float(), variance.sqrt().float(), active, self.positive, self.count)


def statistics_of(batches: Iterable[Tensor]) -> FeatureStatistics:
    """The statistics of features [n, channels, h, w] that come in batches; there must be one."""
    welford = Welford()
    for features in batches:
        welford.add(features)
    return welford.statistics()


def write_statistics(path: Path, statistics: FeatureStatistics) -> None:
    """Write a file, whole or not at all."""
    from safetensors.torch import save

    tensors = {name: getattr(statistics, name).cpu().contiguous() for name in ("mean", "std", "active")}
    tensors["facts"] = torch.tensor([statistics.count, int(statistics.positive)])
    write_atomic(path, save(tensors))


def read_statistics(path: Path) -> FeatureStatistics | None:
    """What a file holds, or None where it is not there or not what was written: it is then estimated again."""
    if not path.exists():
        return None
    try:
        tensors = load_safetensors(path, "statistics")
        mean, std, active, facts = (tensors[name] for name in ("mean", "std", "active", "facts"))
    except (UserError, KeyError):
        return None
    kinds = (mean.dtype, std.dtype, active.dtype, facts.dtype)
    fits = mean.ndim == 3 and mean.shape == std.shape == active.shape and facts.shape == (2,)
    if not fits or kinds != (torch.float32, torch.float32, torch.bool, torch.int64) or not mean.isfinite().all():
        return None
    return FeatureStatistics(mean, std, active, bool(facts[1]), int(facts[0]))
