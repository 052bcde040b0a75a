"""How reports name distortions and what covers images: the distortions' own words, found by text or by name."""

from __future__ import annotations

from snellen.distort.background import KINDS
from snellen.distort.distortion import Covering
from snellen.distort.language import DISTORTIONS, parse
from snellen.errors import UserError

VARIANTS = KINDS  # also of images that lie on disk, which have no distortion


def in_words(distortion: str) -> str:
    """A distortion's text form, or a stored variant, in words; a text that is neither stays as it is."""
    if distortion in VARIANTS:
        return VARIANTS[distortion]
    try:
        return parse(distortion).words()
    except UserError:
        return distortion


def covering(fill: str) -> str:
    """What covers the images of a CutOcclusion finding, by its fill."""
    return masked_by("cutouts") if fill == "cutout" else masked_by("occlude", fill)


def masked_by(masking: str, fill: str = "cutout") -> str:
    """What covers the images of an iOcclusion finding, by its masking, with the fill where that is a paint."""
    kind = DISTORTIONS.get(masking)
    covers = kind.cover_name or masking if kind is not None and issubclass(kind, Covering) else masking
    return covers if fill == "cutout" else f"{fill} {covers}"
