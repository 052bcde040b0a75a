"""What is usual at a layer, as a file of the cache folder: safetensors, written whole and checked when it is read."""

from __future__ import annotations

from pathlib import Path

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.explain.statistics import FeatureStatistics
from snellen.files.weights import load_safetensors
from snellen.lazy_torch import torch


def write_statistics(path: Path, one: FeatureStatistics) -> None:
    """Write a file, whole or not at all."""
    from safetensors.torch import save

    tensors = {name: getattr(one, name).cpu().contiguous() for name in ("mean", "std", "active")}
    tensors["facts"] = torch.tensor([one.count, int(one.positive)])
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
