"""Synthetic and diffuse occluders: boxes, cut-out objects, gates and lattices (Kassaw et al. 2024, appendices E and F)."""

from snellen.distort.distortion import Covering
from snellen.distort.occluders.box import Box
from snellen.distort.occluders.cutout_object import CutoutObject
from snellen.distort.occluders.gates import Gates
from snellen.distort.occluders.lattice import Lattice

OCCLUDERS: dict[str, type[Covering]] = {
    "box": Box,
    "cutout_object": CutoutObject,
    "gates": Gates,
    "lattice": Lattice,
}

__all__ = ["OCCLUDERS", *(cls.__name__ for cls in OCCLUDERS.values())]
