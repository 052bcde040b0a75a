"""Thresholds: a high quantile of every unit's values, from a histogram that does not grow with their number.

A bin holds the floats that agree in sign, exponent and the first six bits of the mantissa, so it is at most ERROR of its values
wide. Values below 2^LOWEST in size count as 0; those above 2^HIGHEST lie in the outermost bins.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

STEPS = 64  # bins between a power of two and the next
LOWEST, HIGHEST = -24, 16  # the powers of two between which values are told apart
ERROR = 1 / STEPS  # the most by which a threshold is off, as a share of itself
_SHIFT = 23 - 6  # bits of a float's mantissa that do not count; 2^6 = STEPS
_FIRST = (127 + LOWEST) * STEPS - 1  # the exponent of a float is kept with 127 added to it
_SIDE = (HIGHEST - LOWEST) * STEPS  # bins above zero, and as many below
BINS = 2 * _SIDE + 1
NAMES = ("counts", "floor", "seen")


class Histogram:
    """How many values of each unit lie in each bin, int64 [units, BINS], as far as its quantile can depend on them.

    `expected` is how many values each unit will have at most. The quantile is the value of a known rank from the top; one that
    is below that rank already can never come to matter, so once `expected` · (1 − share) values were seen, those below the
    `floor` of their unit are passed over. The outcome is the same, whatever the order of the values.
    """

    def __init__(self, units: int, share: float, expected: int, device: torch.device | str = "cpu") -> None:
        self.share, self.needed = share, (1 - share) * expected + 2
        self.counts = torch.zeros((units, BINS), dtype=torch.int64, device=device)
        self.floor = torch.full((units,), -torch.inf, device=device)
        self.seen = torch.zeros(2, dtype=torch.int64)  # values of each unit now, and when the floor was last raised

    def add(self, values: Tensor) -> None:
        """Count values float32 [n, units, places]."""
        image, unit, place = (values >= self.floor[None, :, None]).nonzero(as_tuple=True)
        codes = unit * BINS + _SIDE + _bins(values[image, unit, place])
        self.counts.view(-1).scatter_add_(0, codes, torch.ones_like(codes))
        self.seen[0] += values.shape[0] * values.shape[2]
        if self.seen[0] > self.needed and self.seen[0] >= 2 * self.seen[1]:
            self._raise_floor()

    def quantile(self) -> Tensor:
        """The value of each unit below which the share of its values lie, float32 [units]; off by at most ERROR of itself.

        Inside a bin values are taken to be spread evenly. 0 is exact.
        """
        rank = (1 - self.share) * max(int(self.seen[0]) - 1, 0)
        place, before, within = self._bin_at(rank)
        low, high = _edges(place - _SIDE)
        inside = ((rank - before + 0.5) / within.clamp(min=1)).clamp(0, 1)
        return (high - inside * (high - low)).float()

    def arrays(self) -> dict[str, Tensor]:
        """All that it holds, by name."""
        return {name: getattr(self, name) for name in NAMES}

    def load(self, arrays: Mapping[str, Tensor]) -> None:
        """Take up what `arrays` gave earlier."""
        for name in NAMES:
            setattr(self, name, arrays[name].to(getattr(self, name).device))

    def _raise_floor(self) -> None:
        """Pass over what is below the bin that holds the rank now; of zeros, which may be very many, only that they are left.

        Where zeros are not counted any more, nothing below them may be: the rank would be looked for there.
        """
        place, _, _ = self._bin_at(self.needed)
        self.counts[:, :_SIDE] *= (place != _SIDE)[:, None]
        low, _ = _edges(place - _SIDE)
        smallest = math.ldexp(1.0, LOWEST)
        floor = torch.where(place == _SIDE, torch.full_like(low, smallest), low).float()
        self.floor = torch.where(place == 0, torch.full_like(floor, -torch.inf), floor)
        self.seen[1] = self.seen[0]

    def _bin_at(self, rank: float) -> tuple[Tensor, Tensor, Tensor]:
        """Of each unit the bin of the value of this rank from the top, how many values lie above it and in it.

        Where fewer values were counted the others are zeros.
        """
        above = self.counts.flip(1).cumsum(1)
        fewer = (above <= rank).sum(1)
        place = torch.where(fewer < BINS, BINS - 1 - fewer, torch.full_like(fewer, _SIDE))
        within = self.counts.gather(1, place[:, None])[:, 0].double()
        upto = above.gather(1, (BINS - 1 - place)[:, None])[:, 0].double()
        return place, upto - within, within


def _bins(values: Tensor) -> Tensor:
    """int32, the bin of each value from −_SIDE to _SIDE; 0 is that of zero."""
    bits = values.view(torch.int32)
    size = ((bits & 0x7FFFFFFF) >> _SHIFT).sub_(_FIRST).clamp_(0, _SIDE)
    return torch.where(bits < 0, -size, size)


def _edges(places: Tensor) -> tuple[Tensor, Tensor]:
    """The lower and upper edge of bins, float64; both are 0 for that of zero."""
    size = places.abs() - 1
    exponent = torch.div(size, STEPS, rounding_mode="floor") + LOWEST
    near = torch.ldexp(1 + (size % STEPS).double() / STEPS, exponent)
    far = near + torch.ldexp(torch.full_like(near, 1 / STEPS), exponent)
    zero = torch.zeros_like(near)
    low = torch.where(places > 0, near, torch.where(places < 0, -far, zero))
    high = torch.where(places > 0, far, torch.where(places < 0, -near, zero))
    return low, high
