"""What `snellen build` makes of the corpus and of the phantom world, as small as it gets."""

from __future__ import annotations

from pathlib import Path

from snellen.build.diffuse import build as build_diffuse
from snellen.build.hts import build as build_hts
from snellen.build.in9 import build as build_in9
from snellen.build.iruo import build as build_iruo
from snellen.build.occluders import build as build_occluders


def build_set(corpus: Path, out: Path) -> object:
    """The variants of ImageNet-9 of the images of the corpus."""
    return build_in9(f"voc:{corpus}/voc?masks=true", out, "all", size=16, masks="data", workers=1, balance=False)


def cut_set(annotations: Path, out: Path) -> object:
    """The instances of the clips of the corpus, cut out."""
    return build_iruo(annotations / "annotations_test.json", annotations / "test", out, workers=1, min_clear=0)


def cover_set(out: Path) -> object:
    """The phantom world under a lattice and a box."""
    types = ("lattice_50_2", "solid")
    return build_diffuse("phantom:test?size=16&n=4", out, types=types, size=16, pixels=(2,), workers=1)


def choose_set(out: Path) -> object:
    """Images of the phantom world for people."""
    return build_hts("phantom:test?size=16&n=6", out, per=1, min_pixels=0, min_sharpness=0, workers=1)


def cut_objects(out: Path) -> object:
    """Objects of the phantom world."""
    return build_occluders("phantom:test?size=24&n=4", out, without=("disc",), min_pixels=9, whole=False, workers=1)
