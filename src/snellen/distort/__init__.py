"""How images are modified: distortions, their text language and one call to apply them.

>>> from snellen import distort
>>> str(distort.parse("occlude(0.3) | shuffle(4)"))
'occlude(area=0.3, fill=black, inside=true, law=exact) | shuffle(grid=4)'
"""

from __future__ import annotations

from snellen.distort.background import Background
from snellen.distort.chain import Chain, Nothing, moved, show
from snellen.distort.cover import Occlude, Tiles
from snellen.distort.cutouts import Cutouts
from snellen.distort.direct import apply
from snellen.distort.distortion import Covering, Distortion, Moving
from snellen.distort.fills import Painting
from snellen.distort.fourier import Fourier
from snellen.distort.language import DISTORTIONS, parse
from snellen.distort.law import Beta, Uniform
from snellen.distort.mix import Mix
from snellen.distort.noise import Noise
from snellen.distort.occluders import Box, CutoutObject, Gates, Lattice
from snellen.distort.salient import Saliency, Salient, saliency_of
from snellen.distort.shuffle import Shuffle
from snellen.distort.soft_shuffle import SoftShuffle
from snellen.distort.view import Donors, View
from snellen.lazy_names import lister

__all__ = [
    "DISTORTIONS", "Background", "Beta", "Box", "Chain", "Covering", "CutoutObject", "Cutouts", "Distortion", "Donors", "Fourier",
    "Gates", "Lattice", "Mix", "Moving", "Noise", "Nothing", "Occlude", "Painting", "Saliency", "Salient", "Shuffle",
    "SoftShuffle", "Tiles", "Uniform", "View", "apply", "moved", "parse", "saliency_of", "show",
]  # fmt: skip
__dir__ = lister(__all__)
