"""Covering what a model looks at, or what it does not: the masks of iOcclusion (Marcu & Prügel-Bennett 2022, section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.chain import stages_of
from snellen.distort.distortion import Distortion
from snellen.distort.fills import Fill, Painting
from snellen.distort.law import Law, expect_within, percent_in_words
from snellen.distort.view import View
from snellen.errors import UserError
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

WHICH = {"most": "most salient", "least": "least salient", "coin": "most or least salient"}
_SLACK = 1e-9  # of a pixel: 0.29 · 100 is 29, whatever floating point makes of it


@dataclass(frozen=True)
class Salient(Painting):
    """Cover the share of pixels that matter most to the asking model, or least, by its own map of the clean image.

    `share` of N pixels, 0 to 1: `most` covers the ⌈share · N⌉ highest, `least` the ⌊share · N⌋ lowest, `coin` one or the
    other by a draw per image that is the same at every share. Equal pixels rank from top left to bottom right. `layer`
    is where the map is read: a name in the network, a stage from the end (-2) or stage3; none is the last stage. `method`
    makes the map; a plan refuses names that `snellen list methods` does not have.
    """

    share: float | Law = 0.3
    which: Literal["most", "least", "coin"] = "coin"
    fill: Fill = "mean"
    layer: int | str | None = None
    method: str = "gradcam"
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"share": 0}
    cover_name: ClassVar[str] = "salient pixels"

    def __post_init__(self) -> None:
        expect_within("share", self.share, 0, 1)

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | {"saliency"}

    @property
    def draws(self) -> bool:
        return self.which == "coin" or super().draws

    def cover(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W]."""
        maps = view.saliency
        if maps is None or maps.shape != (len(images), *images.shape[2:]):
            got = "none" if maps is None else list(maps.shape)
            raise ValueError(f"expected saliency of {[len(images), *images.shape[2:]]}, got {got}")
        pixels = maps.shape[1] * maps.shape[2]
        wanted = view.parameter("share", self.share) * pixels
        most = np.ceil(wanted - _SLACK).astype(np.int64)
        spared = pixels - np.floor(wanted + _SLACK).astype(np.int64)
        if self.which == "coin":
            heads = view.draw.uniform("coin") < 0.5
        else:
            heads = np.full(len(images), self.which == "most")
        ranks = ranks_of(maps) if view.ranks is None else view.ranks
        highest = ranks < view.tensor(np.where(heads, most, spared))[:, None, None]
        return highest == view.tensor(heads)[:, None, None]

    def words(self) -> str:
        return f"{WHICH[self.which]} {percent_in_words(self.share)} under {self.fill}"


@dataclass(frozen=True)
class Saliency:
    """Which map of a model a distortion needs."""

    method: str
    layer: int | str | None


def saliency_of(distortion: Distortion) -> Saliency | None:
    """The map that a distortion, or a stage of a chain, needs; None where it needs none.

    >>> from snellen.distort import parse, saliency_of
    >>> saliency_of(parse("salient(0.3, most)"))
    Saliency(method='gradcam', layer=None)
    >>> saliency_of(parse("blur(2)")) is None
    True
    """
    needed = {Saliency(stage.method, stage.layer) for stage in stages_of(distortion) if isinstance(stage, Salient)}
    if len(needed) > 1:
        raise UserError(f"'{distortion}' needs maps of several layers or methods; a chain may use only one")
    return next(iter(needed), None)


def as_bytes(maps: Tensor) -> Tensor:
    """uint8 of maps in 0…1, cut off as the published code does, not rounded; nan is 0, and bytes stay as they are.

    Of maps in 16 bits, which are cut off too, the bytes are the same as of the maps themselves.
    """
    if maps.dtype == torch.uint16:
        return (maps.to(torch.int32) // 257).to(torch.uint8)  # 65,535 = 257 · 255
    return maps if maps.dtype == torch.uint8 else (maps.nan_to_num(0).clamp(0, 1) * 255).to(torch.uint8)


def ranks_of(maps: Tensor) -> Tensor:
    """int32 [B, H, W]: the place of each pixel in a stable descending order of its map (bytes), from 0.

    One order serves every share. NumPy sorts bytes by counting, ten times faster than torch on a CPU.
    """
    levels = 255 - maps.flatten(1)
    places = torch.arange(levels.shape[1], dtype=torch.int32, device=maps.device).expand(levels.shape)
    if maps.device.type == "cpu":
        order = torch.from_numpy(np.argsort(levels.numpy(), axis=1, kind="stable"))
    else:
        order = levels.sort(dim=1, stable=True).indices
    return torch.empty_like(places).scatter_(1, order, places).view(maps.shape)
