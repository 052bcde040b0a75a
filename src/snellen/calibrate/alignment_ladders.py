"""Ladders of alignment: observers that look where they are built to, and whose maps are that, not an estimate."""

from __future__ import annotations

import functools

import numpy as np

from snellen.calibrate.ladder import SIZE, Ladder

TEST = "phantom:test?size={size}&n={images}"
AUDIT = "explanation(method=support, boxes=mask, examples=0, curves=off)"
IMAGES = 600  # of the world that the truth of glances is counted in


@functools.cache
def object_pixels(**dials: float) -> np.ndarray:
    """int [IMAGES]: how many pixels of each image of a test world are its object's."""
    from snellen.data.phantom import World

    masks = World("test", size=SIZE, n=IMAGES, **dials).truth(range(IMAGES)).visible  # type: ignore[arg-type]
    return np.asarray(masks.sum((1, 2)))


def glance_energy(scene: float) -> float:
    """The energy on the object where its pixels have heat 1 and those of the scene `scene`, mean over images."""
    own = object_pixels() / SIZE**2
    return float(np.mean(own / (own + scene * (1 - own))))


def glance_heat(size: float) -> float:
    """EHR where the object has heat 1 and the scene 0.5, mean over images.

    Of N pixels, M of the object, the quantile q reaches the object's heat above rank N − M: the ratio is 1 there and M / N below.
    """
    own = object_pixels(object_size=size)[:, None]
    quantiles = np.linspace(0, 1, 11)
    ratios = np.where(quantiles * (SIZE**2 - 1) <= SIZE**2 - own - 1, own / SIZE**2, 1)
    return float(np.trapezoid(ratios, quantiles, axis=1).mean())


ALIGNMENT_LADDERS: dict[str, Ladder] = {
    "looking_energy": Ladder(
        title="EnergyPG and where an observer looks",
        planted="share of answers from the object",
        says="An observer of the object has all energy inside the object's mask, one of the scene has none: x.",
        model="observer:mixture(texture, background, {x})",
        data=TEST,
        audits=AUDIT,
        finding="energy_pg",
        moves="up",
        truth=lambda x: x,
    ),
    "looking_heat": Ladder(
        title="EHR and where an observer looks",
        planted="share of answers from the object",
        says="The same observers: at every threshold all heat is inside the mask, or none: x.",
        model="observer:mixture(texture, background, {x})",
        data=TEST,
        audits=AUDIT,
        finding="ehr",
        moves="up",
        truth=lambda x: x,
    ),
    "looking_border": Ladder(
        title="EnergyPG and the border of the image",
        planted="share of answers from the border",
        says="An observer of the scene in a strip along the border has no energy inside the mask, one of the object has all: "
        "1 − x.",
        model="observer:mixture(border, shape, {x})",
        data=TEST,
        audits=AUDIT,
        finding="energy_pg",
        moves="down",
        truth=lambda x: 1 - x,
    ),
    "glance_energy": Ladder(
        title="EnergyPG and glances at the scene",
        planted="vote of a pixel of the scene",
        says="Pixels of the object have one vote, those of the scene x. An object that fills a share m of the image then has "
        "m / (m + x (1 − m)) of the energy; the truth is its mean over 600 images.",
        model="observer:glance({x})",
        data=TEST,
        audits=AUDIT,
        finding="energy_pg",
        moves="down",
        truth=glance_energy,
    ),
    "glance_heat": Ladder(
        title="EHR and the size of the object",
        planted="object_size of the test world",
        says="Pixels of the object have one vote, those of the scene half a vote. Below the object's heat the ratio is its "
        "share m of the image, above it 1: about m (2 − m); the truth is the exact mean over 600 images.",
        model="observer:glance(0.5)",
        data=TEST + "&object_size={x}",
        audits=AUDIT,
        finding="ehr",
        moves="up",
        values=(0.3, 0.4, 0.5, 0.6, 0.7, 0.8),
        truth=glance_heat,
    ),
}
