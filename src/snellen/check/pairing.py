"""Which images two sides share: by their ids, and only where class and pixels are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from snellen.check.side import GateSide, Listing
from snellen.errors import UserError, option


@dataclass(frozen=True)
class Pairing:
    """The places of the shared images in the listing of the run and in that of the baseline, and how many only one has."""

    here: NDArray[np.int64]
    there: NDArray[np.int64]
    only_here: int
    only_there: int

    @property
    def shared(self) -> int:
        """How many images both have."""
        return len(self.here)


def pair_images(run: GateSide, baseline: GateSide, on: str) -> Pairing:
    """The shared images of a role; data that are not the same are refused.

    Images of one id that differ in class or pixels are other data, and so are two sides without an image in common.
    """
    here, there = run.listing(on), baseline.listing(on)
    if here is None or there is None:
        side = run if here is None else baseline
        raise UserError(
            f"{side.source} has no samples of '{on}', so nothing can be compared image by image; {_advice()}"
        )
    _, first, second = np.intersect1d(here.keys, there.keys, return_indices=True)
    changed = len(np.intersect1d(here.ids, there.ids)) - len(first)
    if changed > 0:
        raise UserError(
            f"{changed:,} of the {on} images of {run.source} have another class or other pixels in {baseline.source}: "
            f"these are other data; {_advice()}"
        )
    if not len(first):
        raise UserError(f"no {on} image of {run.source} is in {baseline.source}: these are other data; {_advice()}")
    order = np.argsort(first)
    return Pairing(first[order], second[order], len(here.keys) - len(first), len(there.keys) - len(first))


def groups_in(listing: Listing | None) -> NDArray[np.str_] | None:
    """The group of each sample, where the data have groups."""
    return None if listing is None else listing.groups


def _advice() -> str:
    return f"audit both on the same images, or pass {option('unpaired')} to compare the two intervals"
