"""Ladders of lattices: voters of patches, which lose their votes once the squares are smaller than their patch.

The hypothesis of Kassaw et al. 2024 by construction, and its figure 15: accuracy against the side of the squares, one ladder for
each share of the image that they cover.
"""

from __future__ import annotations

import functools

import numpy as np

from snellen.calibrate.ladder import CHANCE, SIZE, Ladder

PATCHES = {2: 0.25, 4: 0.25, 8: 0.5}  # side in pixels of 32 → share of the answers
VOTERS = "mixture(patches(8), mixture(patches(2), patches(4), 0.5), 0.5)"
WORLD = "object_size=0.9&texture_bias=1"
IMAGES = 600  # of the world that the truth is counted in
FREE = {  # share → which of every 2 × 2 squares are not covered (appendix F)
    0.25: ((0, 1), (1, 1)),
    0.5: ((0, 1), (1, 0)),
    0.75: ((0, 0), (1, 0)),
}


@functools.cache
def objects() -> np.ndarray:
    """bool [IMAGES, SIZE, SIZE]: the objects of the test world."""
    from snellen.data.phantom import World

    world = World("test", size=SIZE, n=IMAGES, object_size=0.9, texture_bias=1)
    return np.asarray(world.truth(range(IMAGES)).visible)


def voting_share(patch: int, share: float, px: int) -> float:
    """The share of images in which some whole patch shows nothing but the object, under squares of `px` pixels."""
    tiles = SIZE // (2 * px)
    free = np.kron(np.tile(np.array(FREE[share]), (tiles, tiles)), np.ones((px, px))).astype(bool)
    places = SIZE // patch
    whole = (objects() & free).reshape(IMAGES, places, patch, places, patch).all((2, 4))
    return float(whole.any((1, 2)).mean())


def voters_truth(share: float, px: float) -> float:
    """The accuracy of the voters: each is right where it has a vote, since every texture is its class's own, and guesses else."""
    votes = sum(weight * voting_share(patch, share, int(px)) for patch, weight in PATCHES.items())
    return votes + (1 - votes) * CHANCE


def ladder(share: float) -> Ladder:
    """The ladder of the lattices over a share of the image."""
    return Ladder(
        title=f"Lattices over {share:.0%} and the size of patches",
        planted="side of the squares, px",
        says="Voters count patches that are wholly visible object: of 8 pixels for half of the answers, of 2 and of 4 for a "
        "quarter each. Squares smaller than a patch spoil every one of its size: at 1 px all guess, and each doubling up to "
        "8 px gives back the votes of one size, where the object is large enough to hold such a patch; the truth is counted in "
        "the masks of 600 images.",
        model=f"observer:{VOTERS}",
        data=f"phantom:test?size={{size}}&n={{images}}&{WORLD}",
        audits=f"interference([lattice({share:g}, {{x}})])",
        finding="distorted_accuracy",
        where={"distortion": f"lattice(share={share:g}, px={{x}}, fill=grey)"},
        moves="up",
        values=(1, 2, 4, 8),
        truth=functools.partial(voters_truth, share),
    )


LATTICE_LADDERS: dict[str, Ladder] = {f"lattice_voters_{share:.0%}".rstrip("%"): ladder(share) for share in FREE}
