"""Ladders of faithfulness: observers that one pixel decides, and maps that name it, miss it, or something between.

An observer of one pixel keeps its answer until that pixel is hidden. A map that names it hides it last, a random order halfway:
the area between both curves is 50 of 100, the upper line; with a random map it is 0. Hidden pixels get the colour that observers
take for nothing (`fill=zero`), and a tile is one pixel. Tolerance: 3 points of 100 with 600 images.
"""

from __future__ import annotations

import functools

import numpy as np

from snellen.calibrate.ladder import SIZE, Ladder

TEST = "phantom:test?size={size}&n={images}"
AUDIT = "faithfulness(method=support, tile=1, fill=zero)"
ONE_PIXEL = "centre(0.03)"
TOLERANCE = 3.0  # points of 100, with 600 images
IMAGES = 600  # of the world in which pixels of the object are counted
POINTS = 100  # of a curve


@functools.cache
def object_in_window(side: int) -> np.ndarray:
    """int [IMAGES]: how many pixels of the object are in a square in the middle, `side` pixels wide."""
    from snellen.data.phantom import World

    masks = World("test", size=SIZE, n=IMAGES).truth(range(IMAGES)).visible
    start = (SIZE - side) // 2
    return np.asarray(masks[:, start : start + side, start : start + side].sum((1, 2)))


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


FAITHFULNESS_LADDERS: dict[str, Ladder] = {
    "faithful_share": Ladder(
        title="Inter-model deletion and maps that are noise",
        planted="share of images whose map is noise",
        says="An observer answers by one pixel. Its true map hides that pixel last, a random order halfway: 50 of 100 where it "
        "sees the object there, the upper line. On a share x of the images its map is noise: (1 − x) of the upper line. "
        "Tolerance: 3 points with 600 images.",
        model=f"observer:misreport({ONE_PIXEL}, share={{x}})",
        data=TEST,
        audits=AUDIT,
        finding="inter_model_deletion",
        moves="down",
        truth=share_area,
    ),
    "faithful_noise": Ladder(
        title="Inter-model deletion and noise in every map",
        planted="share of noise in each map",
        says="The same observer, whose maps are all mixed with noise. Its pixel is outranked by noise ever more often: 2 c − c² "
        "of the upper line, c = (1 − x) / x. Tolerance: 3 points with 600 images.",
        model=f"observer:misreport({ONE_PIXEL}, noise={{x}})",
        data=TEST,
        audits=AUDIT,
        finding="inter_model_deletion",
        moves="down",
        values=(0.5, 0.6, 0.7, 0.8, 0.9, 1),
        truth=noise_area,
    ),
    "faithful_window": Ladder(
        title="Inter-model deletion and answers that little suffices for",
        planted="side of the window it sees, share of the image",
        says="An observer of a window answers while any of its m pixels of the object is left. Random orders leave one for long: "
        "even a true map has an area of about 100 / (m + 1) only; the truth is the mean over 600 images.",
        model="observer:centre({x})",
        data=TEST,
        audits=AUDIT,
        finding="inter_model_deletion",
        moves="down",
        values=(0.03125, 0.0625, 0.09375, 0.125, 0.25),
        truth=window_area,
    ),
}
