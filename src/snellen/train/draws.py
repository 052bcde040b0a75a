"""The random streams of one epoch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from snellen.lazy_torch import torch


@dataclass(frozen=True)
class TrainDraws:
    """Generators of an epoch: `order` (and augmenting), `mixing`, `partner`, `attack`; all on the CPU.

    They start from (seed, epoch) alone, so that a run that was stopped continues as if it had not been. Order and
    mixing have streams of their own: recipes that differ only in the mix see the same images in turn.
    """

    order: torch.Generator
    mixing: torch.Generator
    partner: torch.Generator
    attack: torch.Generator

    @classmethod
    def of(cls, seed: int, epoch: int) -> TrainDraws:
        words = np.random.SeedSequence([seed, epoch + 1]).generate_state(4, np.uint64)
        return cls(*(torch.Generator().manual_seed(int(word >> np.uint64(1))) for word in words))


def seed_globally(device: torch.device, seed: int, epoch: int, rank: int = 0) -> None:
    """Seed torch's own generators of the CPU and a device, from which initial weights (epoch −1) and dropout are drawn.

    Every process has a dropout of its own, but all have the same initial weights (rank 0).
    """
    word = int(np.random.SeedSequence([seed, epoch + 1, rank, 1]).generate_state(1)[0])
    torch.default_generator.manual_seed(word)
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(word)
