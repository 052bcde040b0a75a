"""Clusters of directions: spherical k-means with a k-means++ start, and a sample of directions that does not grow."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import functional as F

MOST_ITERATIONS = 150
_ROWS = 8192  # directions compared with all centres at once


def sample_rows(parts: Iterable[Tensor], most: int, generator: torch.Generator) -> Tensor:
    """At most `most` rows of all parts [n, D], each with the same chance: memory does not grow with the number of parts.

    Each row has a random key, and those with the smallest keys stay.
    """
    sample, keys = torch.empty(0, 0), torch.empty(0, dtype=torch.float64)
    for part in parts:
        rows = part.detach().float().cpu()
        new = torch.rand(len(rows), generator=generator, dtype=torch.float64)
        sample = torch.cat([sample, rows]) if len(keys) else rows
        keys = torch.cat([keys, new])
        if len(keys) > most:
            smallest = keys.topk(most, largest=False).indices.sort().values
            sample, keys = sample[smallest], keys[smallest]
    return sample


def cluster_directions(
    rows: Tensor, count: int, generator: torch.Generator, iterations: int = MOST_ITERATIONS
) -> Tensor:
    """Centres [count, D] of length 1 that rows [n, D] point to (spherical k-means; n ≥ count).

    The start is k-means++ with distance 1 − cos. A cluster that loses all its rows takes the row that is explained worst. It ends
    when no row changes its cluster.
    """
    directions = F.normalize(rows.float(), dim=1)
    centres = _spread_out(directions, count, generator)
    before = None
    for _ in range(iterations):
        closeness, nearest = _nearest(directions, centres)
        if before is not None and bool((nearest == before).all()):
            break
        before = nearest
        sums = torch.zeros_like(centres).index_add_(0, nearest, directions)
        empty = torch.bincount(nearest, minlength=count) == 0
        if empty.any():
            sums[empty] = directions[closeness.argsort()[: int(empty.sum())]]
        centres = F.normalize(sums, dim=1)
    return centres


def _nearest(directions: Tensor, centres: Tensor) -> tuple[Tensor, Tensor]:
    """The largest cosine of each row with a centre, and that centre's number."""
    parts = [(part @ centres.T).max(1) for part in directions.split(_ROWS)]
    return torch.cat([part.values for part in parts]), torch.cat([part.indices for part in parts])


def _spread_out(directions: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """k-means++: each next centre is a row drawn with a chance that grows with its distance from those before.

    Of some rows drawn so, the one that leaves the least distance is taken (greedy k-means++), which seldom misses a cluster.
    """
    first = int(torch.randint(len(directions), (1,), generator=generator))
    chosen, distance = [first], 1 - directions @ directions[first]
    tries = 2 + int(math.log(count))
    for _ in range(count - 1):
        weights = distance.clamp(min=0).double()
        if not float(weights.sum()) > 0:  # fewer different rows than centres
            weights = torch.ones_like(weights)
        rows = torch.multinomial(weights, tries, replacement=True, generator=generator)
        distances = torch.minimum(distance, 1 - directions[rows] @ directions.T)
        best = int(distances.sum(1).argmin())
        chosen.append(int(rows[best]))
        distance = distances[best]
    return directions[chosen].clone()
