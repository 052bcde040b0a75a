"""Distortions as people read them: a text form in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from snellen import notation
from snellen.errors import UserError


def in_words(distortion: str) -> str:
    """A distortion's text form, or a stored variant, in words; a text we have no words for stays as it is."""
    if distortion in VARIANTS:
        return VARIANTS[distortion]
    try:
        node = notation.read(distortion)
    except UserError:
        return distortion
    return ", then ".join(
        _one(part, distortion) for part in (node.parts if isinstance(node, notation.Pipe) else (node,))
    )


def _one(node: Any, whole: str) -> str:
    if not isinstance(node, notation.Call) or node.name not in _WORDS:
        return whole
    try:
        return _WORDS[node.name](dict(node.named))
    except KeyError:  # a short form, without all its fields
        return whole


def _occlude(fields: Mapping[str, Any]) -> str:
    reach = "" if fields["inside"] else " (partly outside)"
    return f"{fields['fill']} square of {_share(fields['area'])}{reach}"


_MIXES = {"mixup": "MixUp", "cutmix": "CutMix", "fmix": "FMix"}


def _salient(fields: Mapping[str, Any]) -> str:
    kinds = {"most": "most salient", "least": "least salient", "coin": "most or least salient"}
    return f"{kinds[fields['which']]} {_share(fields['share'])} under {fields['fill']}"


def covering(fill: str) -> str:
    """What covers the images of a CutOcclusion finding, by its fill."""
    return "your cut-outs" if fill == "cutout" else f"{fill} squares"


_MASKS = {
    "occlude": "squares", "tiles": "tiles", "fourier": "Fourier masks", "salient": "salient pixels",
    "cutouts": "your cut-outs",
}  # fmt: skip


def masked_by(masking: str, fill: str = "cutout") -> str:
    """What covers the images of an iOcclusion finding, by its masking, with the fill where that is a paint."""
    masks = _MASKS.get(masking, masking)
    return masks if fill == "cutout" else f"{fill} {masks}"


VARIANTS = {
    "original": "clean",
    "only_fg": "object on black",
    "mixed_same": "background of the same class",
    "mixed_rand": "background of any class",
    "mixed_next": "background of the next class",
    "bg_blurred": "background blurred",
    "no_fg": "object blackened",
    "only_bg_b": "background alone, box black",
    "only_bg_t": "background alone, box tiled",
}


_WORDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "none": lambda fields: "clean",
    "occlude": _occlude,
    "tiles": lambda fields: (
        f"{fields['fill']} tiles over {_share(fields['share'])} of {fields['grid']}×{fields['grid']}"
    ),
    "fourier": lambda fields: f"{fields['fill']} Fourier mask of {_share(fields['area'])}",
    "salient": _salient,
    "cutouts": lambda fields: f"cut-outs over {_share(fields['share'])}",
    "shuffle": lambda fields: f"{fields['grid']}×{fields['grid']} patches shuffled",
    "soft_shuffle": lambda fields: f"{fields['grid']}×{fields['grid']} patches shuffled softly",
    "mix": lambda fields: f"{_MIXES[fields['kind']]} with another image",
    "background": lambda fields: VARIANTS[fields["kind"]],
    "noise": lambda fields: f"Gaussian noise of σ {_range(fields['sigma'], 1) or 'drawn'}",
}


def _share(value: Any) -> str:
    return f"{_range(value, 100)} %" if _range(value, 100) else "a drawn share"


def _range(value: Any, scale: float) -> str:
    """A number, or the ends of a uniform law."""
    if isinstance(value, int | float):
        return f"{scale * value:g}"
    ends = dict(value.named) if isinstance(value, notation.Call) else {}
    return f"{scale * ends['low']:g}–{scale * ends['high']:g}" if {"low", "high"} <= ends.keys() else ""
