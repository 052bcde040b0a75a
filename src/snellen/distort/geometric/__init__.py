"""Geometric distortions: rotation, shift, shear and zoom. What comes in at the border is the image mirrored at it."""

from snellen.distort.geometric.kinds import Rotate, Shear, Shift, Zoom
from snellen.distort.geometric.stage import Geometric

GEOMETRIC: dict[str, type[Geometric]] = {"rotate": Rotate, "shift": Shift, "shear": Shear, "zoom": Zoom}

__all__ = ["GEOMETRIC", "Geometric", *(cls.__name__ for cls in GEOMETRIC.values())]
