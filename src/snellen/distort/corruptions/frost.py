"""Frost, with textures that are generated: the published ones are photographs of others."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from snellen.distort.corruptions.blurs import streaked
from snellen.distort.corruptions.fields import normal, plasma
from snellen.distort.corruptions.zooming import zoomed_in
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

_TEXTURES = 6  # as many as are published
_LEAST = 512  # pixels of a texture's side
_SMALLER = 5  # textures of small images are made smaller by this, as published
_BLUE = (0.93, 1.0, 1.05)
_NEEDLES = ((5, 2), (9, 4), (14, 6), (20, 9))  # radius and sigma of those of each field
_DARKEST, _BRIGHTEST, _ROUGH = 80, 210, 70  # levels


def frost(images: Tensor, view: View, settings: tuple[float, float]) -> Tensor:
    """A darker image behind ice: a place of one of six textures, chosen at random."""
    return _behind(images, view, settings, textures(_side(images)))


def frost_small(images: Tensor, view: View, settings: tuple[float, float]) -> Tensor:
    """The same for small images, with crystals as large beside the object as in large ones."""
    full = textures(_SMALLER * _side(images)).float()
    return _behind(images, view, settings, torch.nn.functional.avg_pool2d(full, _SMALLER).to(torch.uint8))


def _side(images: Tensor) -> int:
    """How large a texture is that leaves some choice of places."""
    return max(images.shape[2:]) * 5 // 4


def _behind(images: Tensor, view: View, settings: tuple[float, float], ice: Tensor) -> Tensor:
    share, amount = settings
    height, width = images.shape[2:]
    chosen = view.draw.integer("texture", _TEXTURES)
    tops, lefts = (
        view.draw.integer(name, side - own + 1)
        for name, side, own in (("top", ice.shape[2], height), ("left", ice.shape[3], width))
    )
    places = zip(chosen.tolist(), tops.tolist(), lefts.tolist())
    cut = [ice[number, :, top : top + height, left : left + width] for number, top, left in places]
    frozen = torch.stack(cut).to(images.device).float().mul_(amount)
    return frozen.add_(images, alpha=share).clamp_(0, 255).to(torch.uint8)


@functools.lru_cache(maxsize=4)
def textures(side: int) -> Tensor:
    """uint8 [6, 3, side, side], at least 512: fields of needles, those of a field along one direction, on grey ground.

    How bright and how rough they are is that of the published photographs.
    """
    side = max(side, _LEAST)
    view = View.of([f"frost {number}" for number in range(_TEXTURES)])
    fields = torch.stack([plasma(view, f"field {number}", side, side, 1.6) for number in range(len(_NEEDLES))], 1)
    grain = zoomed_in(normal(view, "grain", side, side)[:, None], 2)
    angles = 180 * view.draw.uniforms("angles", len(_NEEDLES))
    grey = fields.amax(1).sub_(0.5).mul_(_ROUGH)
    for row, own in enumerate(angles.tolist()):
        here = fields[row].argmax(0)
        for number, angle in enumerate(own):
            needles = streaked(grain[row], *_NEEDLES[number], angle)[0, :side, :side]
            grey[row] += needles.mul_(_ROUGH / 2**16).masked_fill_(here != number, 0)
    bright = torch.linspace(_DARKEST, _BRIGHTEST, _TEXTURES)
    coloured = (grey + bright[:, None, None])[:, None] * torch.tensor(_BLUE)[:, None, None]
    return coloured.clamp_(0, 255).to(torch.uint8)
