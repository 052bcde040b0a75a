"""The table of attribution methods: what makes maps for `salient`, for audits that ask for maps, and for `snellen explain`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.errors import unknown
from snellen.explain.gradcam import Targets, gradcam
from snellen.explain.support import support
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Method:
    """How maps of what matters to a model are made.

    `maps(model, images, targets, layer)` of uint8 images [B, 3, H, W] gives float maps [B, H, W] in 0…1; `targets` are class
    numbers, None for the model's own answers; `layer` is a name, a stage from the end, or None. `text` says in a line what
    it is. `version` is bumped by hand when pixels of maps change. `gradients`: it needs those of a torch network; `support`: it
    needs a model whose support is known.
    """

    maps: Callable[[Model, Tensor, Targets, int | str | None], Tensor]
    text: str
    version: int = 1
    gradients: bool = True
    support: bool = False


METHODS: dict[str, Method] = {
    "gradcam": Method(gradcam, "Grad-CAM (Selvaraju et al. 2017): features of a layer, weighted by their gradients"),
    "support": Method(
        support,
        "the pixels that an observer of the phantom world answers by, known by its construction",
        gradients=False,
        support=True,
    ),
}


def method_of(name: str) -> Method:
    """The method of a name."""
    if name not in METHODS:
        raise unknown("method of maps", name, METHODS)
    return METHODS[name]
