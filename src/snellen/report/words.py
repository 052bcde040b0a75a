"""Numbers and distortions as people read them; what is not known is a dash, never 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from snellen import notation
from snellen.errors import UserError

UNKNOWN = "–"


def known(value: float | None) -> bool:
    """Whether there is a number at all (nan is stored as null)."""
    return value is not None and math.isfinite(value)


def percent(value: float | None, digits: int = 1) -> str:
    """A share in percent: 0.927 is `92.7%`."""
    return f"{_with_minus(f'{100 * value:.{digits}f}')}%" if value is not None and math.isfinite(value) else UNKNOWN


def points(value: float | None) -> str:
    """A difference of shares in signed percentage points: −0.074 is `−7.4 points`."""
    return f"{_signed(value)} points" if value is not None and math.isfinite(value) else UNKNOWN


def index(value: float | None) -> str:
    """An index such as DI, to two decimals."""
    return _with_minus(f"{value:.2f}") if value is not None and math.isfinite(value) else UNKNOWN


def measured(value: float | None, unit: str) -> str:
    """A finding's value in its unit."""
    return {"share": percent, "difference": points}.get(unit, index)(value)


def spread(std: float | None, unit: str) -> str:
    """The deviation over runs behind a value, ` ± 0.4`; nothing for a single run, which shows none."""
    if std is None or not known(std):
        return ""
    return f" ± {100 * std:.1f}" if unit in ("share", "difference") else f" ± {std:.2f}"


def interval(low: float | None, high: float | None, unit: str) -> str:
    """A 95% interval without its unit: `91.5–93.8`, `0.43–∞` where it has no upper end; a dash where there is none."""
    if low is None or not known(low):
        return UNKNOWN
    scale, digits = (100, 1) if unit == "share" else (1, 2)
    if high is None or not known(high):
        return f"{scale * low:.{digits}f}–∞"
    if unit == "difference":
        return f"{_signed(low)} to {_signed(high)}"
    between = "–" if low >= 0 else " to "  # a dash beside a minus reads as one
    return _with_minus(f"{scale * low:.{digits}f}{between}{scale * high:.{digits}f}")


def counted(count: int, thing: str, things: str = "") -> str:
    """`1 run`, `1,200 images`, `2 classes`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def listed(things: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(things[:-1]), things[-1]] if len(things) > 1 else list(things))


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


def _signed(value: float) -> str:
    return _with_minus(f"{100 * value:+.1f}")


def _with_minus(number: str) -> str:
    """A number with a real minus sign."""
    return number.replace("-", "−")
