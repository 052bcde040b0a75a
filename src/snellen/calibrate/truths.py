"""The truths of the calibration series: what a finding must be at a planted value, counted in the phantom world or worked out."""

from __future__ import annotations

import functools

import numpy as np

from snellen.calibrate.ladder import CHANCE, SIZE

IMAGES = 600  # of the world that truths are counted in
POINTS = 100  # of a deletion curve
AREAS = (0.1, 0.3, 0.5, 0.7, 0.9)  # the squares that a memory is read under
PATCHES = {2: 0.25, 4: 0.25, 8: 0.5}  # voters of patches: side in pixels of 32 → share of the answers
FREE = {  # share of a lattice → which of every 2 × 2 squares are not covered (Kassaw et al. 2024, appendix F)
    0.25: ((0, 1), (1, 1)),
    0.5: ((0, 1), (1, 0)),
    0.75: ((0, 0), (1, 0)),
}


@functools.cache
def object_masks(**dials: float) -> np.ndarray:
    """bool [IMAGES, SIZE, SIZE]: the objects of a test world with these dials."""
    from snellen.data.phantom import World

    world = World("test", size=SIZE, n=IMAGES, **dials)  # type: ignore[arg-type]
    return np.asarray(world.truth(range(IMAGES)).visible)


def known_or_guessed(share: float) -> float:
    """The accuracy of one who knows a share of the images and guesses the class of the others."""
    return share + (1 - share) * CHANCE


def memory_stair(least: float) -> float:
    """CutOcclusion of an observer that recalls an image by a share `least` of its pixels, and guesses under larger squares."""
    return sum(1 if 1 - area >= least else CHANCE for area in AREAS) / len(AREAS)


def paint_truth(share: float) -> float:
    """Test accuracy under black, half from memory, which guesses, half from texture, of which black decides a share."""
    return CHANCE / 2 + (1 - share + share * CHANCE) / 2


def glance_energy(scene: float) -> float:
    """The energy on the object where its pixels have heat 1 and those of the scene `scene`, mean over images."""
    own = object_masks().sum((1, 2)) / SIZE**2
    return float(np.mean(own / (own + scene * (1 - own))))


def glance_heat(size: float) -> float:
    """EHR where the object has heat 1 and the scene 0.5, mean over images.

    Of N pixels, M of the object, the quantile q reaches the object's heat above rank N − M: the ratio is 1 there and M / N below.
    """
    own = object_masks(object_size=size).sum((1, 2))[:, None]
    quantiles = np.linspace(0, 1, 11)
    ratios = np.where(quantiles * (SIZE**2 - 1) <= SIZE**2 - own - 1, own / SIZE**2, 1)
    return float(np.trapezoid(ratios, quantiles, axis=1).mean())


def object_in_window(side: int) -> np.ndarray:
    """int [IMAGES]: how many pixels of the object are in a square in the middle, `side` pixels wide."""
    start = (SIZE - side) // 2
    return np.asarray(object_masks()[:, start : start + side, start : start + side].sum((1, 2)))


def random_area(pixels: np.ndarray) -> np.ndarray:
    """The expected area under the curve of random orders, 0 to 1, where any one of so many `pixels` suffices for the answer.

    With a share s of all pixels hidden they all are with a probability of s to the power of their number, nearly.
    """
    hidden = np.linspace(0, 1, POINTS)
    return np.asarray(np.trapezoid(1 - hidden ** np.maximum(pixels, 1)[:, None], hidden, axis=1))


def window_area(share: float) -> float:
    """The faithfulness of the true map of an observer that sees the object's texture in a window of this share of the side.

    All pixels of its support are hidden last, so its answer lasts until the last point. It guesses where it sees no object: its
    score falls at once in any order.
    """
    pixels = object_in_window(max(round(share * SIZE), 1))
    last = 1 - 0.5 / (POINTS - 1)
    return 100 * float(np.mean(np.where(pixels > 0, last - random_area(pixels), 0)))


def share_area(share: float) -> float:
    """The faithfulness of a map that is noise on this share of the images and true on the others."""
    return (1 - share) * window_area(1 / SIZE)


def noise_area(noise: float) -> float:
    """The faithfulness of a map with so much noise in every pixel, of an observer of one pixel.

    Its own pixel has the value 1 − x + x u, the others x v, with u and v even in 0…1. With c = (1 − x) / x it outranks a share
    min(1, u + c) of the others, 1/2 + c − c²/2 on average where c < 1.
    """
    c = (1 - noise) / noise if noise > 0 else 1.0
    return window_area(1 / SIZE) * (2 * c - c * c if c < 1 else 1.0)


def voting_share(patch: int, share: float, px: int) -> float:
    """The share of images in which some whole patch shows nothing but the object, under a lattice's squares of `px` pixels."""
    tiles = SIZE // (2 * px)
    free = np.kron(np.tile(np.array(FREE[share]), (tiles, tiles)), np.ones((px, px))).astype(bool)
    places = SIZE // patch
    objects = object_masks(object_size=0.9, texture_bias=1)
    whole = (objects & free).reshape(IMAGES, places, patch, places, patch).all((2, 4))
    return float(whole.any((1, 2)).mean())


def voters_truth(share: float, px: float) -> float:
    """The accuracy of the voters: each is right where it has a vote, since every texture is its class's own, and guesses else."""
    return known_or_guessed(sum(weight * voting_share(patch, share, int(px)) for patch, weight in PATCHES.items()))
