"""A planted network: units that follow concepts of the phantom world by construction, for measures whose truth must be known."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from snellen.data.colour_names import COLOURS, terms_of_channels
from snellen.data.concept_maps import Concept
from snellen.data.phantom import marks
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES
from snellen.data.phantom.textures import TEXTURES
from snellen.errors import UserError
from snellen.models.model import Model, from_torch

UNITS = 20
# Those that cover one to ten percent of the world, so that the top hundredth of a unit that follows one overlaps with it.
PLANTED = (
    *(Concept("colour", name) for name in ("red", "orange", "yellow", "pink")),
    *(Concept("material", name) for name in TEXTURES),
    *(Concept("scene", name) for name in ("sky", "wall", "water", "city")),
)
OFFSET = 256  # between numbers of colours and codes of marks


def concept_units(share: str = "0.5") -> Model:
    """A network whose layer `units` has UNITS units, of which `share` follow a concept of PLANTED each and the others none."""
    try:
        count = round(float(share) * UNITS)
    except ValueError:
        count = -1
    if not 0 <= count <= UNITS:
        raise UserError(f"expected the share of units that follow a concept, from 0 to 1, got '{share[:60]}'")
    return from_torch(PlantedNetwork(PLANTED[:count]), classes=list(SHAPES), name=f"planted-{share}")


class PlantedNetwork(nn.Module):
    """A layer `units`, and answers that follow from it in some fixed way."""

    def __init__(self, concepts: tuple[Concept, ...]) -> None:
        super().__init__()
        self.units = PlantedUnits([_number(concept) for concept in concepts])

    def forward(self, pixels: Tensor) -> Tensor:
        answers: Tensor = 10 * self.units(pixels).mean((2, 3))[:, : len(SHAPES)]
        return answers


class PlantedUnits(nn.Module):
    """UNITS maps of the size of the image: from 1 to 2 where a pixel shows the unit's concept, else from 0 to 1.

    Within these bounds values are pseudo-random, so that a quantile has a hundredth of the pixels above it. A unit without a
    concept (−1) is pseudo-random alone.
    """

    numbers: Tensor

    def __init__(self, numbers: list[int]) -> None:
        super().__init__()
        self.register_buffer("numbers", torch.tensor([*numbers, *[-1] * (UNITS - len(numbers))]))

    def forward(self, pixels: Tensor) -> Tensor:
        levels = (pixels * 255).round().int()
        red, green, blue = levels.unbind(1)
        colours: Tensor = terms_of_channels(red, green, blue, torch.where)
        codes = torch.from_numpy(_codes(levels.permute(0, 2, 3, 1).cpu().numpy())).to(colours)
        follows = self.numbers[None, :, None, None]
        shows = (colours[:, None] == follows) | (codes[:, None] + OFFSET == follows)
        return _jitter(levels, len(self.numbers)) + shows.float()


def _number(concept: Concept) -> int:
    """What stands for a concept: the place of a colour plus 1, or the code of a material or scene plus OFFSET."""
    if concept.category == "colour":
        return COLOURS.index(concept.name) + 1
    names = list(TEXTURES if concept.category == "material" else SCENES)
    return OFFSET + names.index(concept.name) + (marks.MAIN if concept.category == "material" else 0)


def _codes(levels: np.ndarray) -> np.ndarray:
    """The marks of pixels [B, H, W, 3]: things that are not the main object have its codes too."""
    codes = marks.read(levels.astype(np.uint8)).astype(np.int64)
    beside = (codes >= marks.OTHER) & (codes < marks.NOTHING)
    return np.where(beside, codes - marks.OTHER + marks.MAIN, codes)


def _jitter(levels: Tensor, units: int) -> Tensor:
    """float [B, units, H, W] in 0…1, pseudo-random in the colour of a pixel, its place and the unit."""
    height, width = levels.shape[2:]
    place = torch.arange(height * width, device=levels.device).view(1, 1, height, width)
    packed = (levels[:, :1] << 16 | levels[:, 1:2] << 8 | levels[:, 2:]).long()
    seed = packed * 7919 + place * 104_729 + torch.arange(units, device=levels.device).view(1, -1, 1, 1) * 1_299_709
    mixed = (seed * 2_654_435_761) % 4_294_967_291
    return ((mixed * 40_503) % 65_521).float() / 65_521
