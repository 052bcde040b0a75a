"""Backgrounds taken away, kept alone or exchanged: the variants of ImageNet-9 (Xiao et al. 2021), made on the canvas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.blur import blurred
from snellen.distort.distortion import Covering
from snellen.distort.strips import Inpaint, boxes_of, empty, filled, inside, lends, replaced
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

VariantKind = Literal[
    "original", "only_bg_b", "only_bg_t", "no_fg", "only_fg", "mixed_same", "mixed_rand", "mixed_next", "bg_blurred"
]
MIXED = ("mixed_same", "mixed_rand", "mixed_next")
KINDS: dict[str, str] = {  # in words
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


@dataclass(frozen=True)
class Background(Covering):
    """Change the background or the object of each image, as the variants of ImageNet-9 do.

    `kind`: `only_bg_b` blackens the object's box, `only_bg_t` fills it with the largest strip beside it, tiled; `no_fg`
    blackens the object, `only_fg` all but the object; `mixed_same`, `mixed_rand` and `mixed_next` put the object on the
    tiled background of a donor of its own class, of any class (uniformly, its own too) or of the next class in the data's
    order; `bg_blurred` blurs all but the object by a Gaussian of `sigma` pixels; `original` changes nothing. `inpaint`
    fills boxes by OpenCV's Telea or Navier-Stokes method instead (slow). Without `own`, an image never lends to itself.
    The object is its mask, or with `foreground=box` its whole box; an image with several boxes has the one around them all.
    Donors come from `--donors`, else from the test data. Images whose box leaves no strip, whose object is empty, or for
    which there is no donor, count nowhere. In a chain it goes before anything that moves pixels.
    """

    kind: VariantKind = "mixed_rand"
    sigma: float = 8.0
    inpaint: Inpaint = "tile"
    own: bool = True
    foreground: Literal["mask", "box"] = "mask"
    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {"kind": "original"}
    own_data: ClassVar[bool] = True
    whole_pool: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.sigma <= 1000:
            raise ValueError(f"expected sigma in [0, 1000] pixels, got {self.sigma:g}")

    @property
    def needs(self) -> frozenset[str]:
        if self.kind == "original":
            return frozenset()
        if self.kind in ("only_bg_b", "only_bg_t"):
            return frozenset({"boxes"})
        object_ = {"masks" if self.foreground == "mask" else "boxes"}
        if self.kind not in MIXED:
            return frozenset(object_)
        return frozenset(object_ | {"donors"} | ({"labels"} if self.kind != "mixed_rand" else set()))

    @property
    def packages(self) -> dict[str, str]:
        fills = self.kind == "only_bg_t" or self.kind in MIXED
        return {"cv2": f"inpaint={self.inpaint}"} if fills and self.inpaint != "tile" else {}

    @property
    def draws(self) -> bool:
        return self.kind in MIXED

    @property
    def donor_objects(self) -> bool:
        return self.kind in MIXED

    def words(self) -> str:
        return KINDS[self.kind]

    def cover(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W]: the pixels that are replaced."""
        if self.kind == "original":
            return torch.zeros((len(images), *images.shape[2:]), dtype=torch.bool, device=images.device)
        if self.kind in ("only_bg_b", "only_bg_t"):
            boxes = boxes_of(images, view)
            if self.kind == "only_bg_t":
                view.exclude(~lends(boxes, images.shape[2], images.shape[3]))
            else:
                view.exclude(empty(boxes))
            return inside(boxes, images.shape[2], images.shape[3], images.device)
        object_mask = self.object_of(images, view)
        return object_mask if self.kind == "no_fg" else ~object_mask

    def paste(self, images: Tensor, view: View) -> tuple[Tensor, Tensor]:
        """The images with the covered pixels replaced, and the cover."""
        cover = self.cover(images, view)
        if self.kind == "original":
            return images, cover
        if self.kind == "only_bg_t":
            return filled(images, boxes_of(images, view), self.inpaint), cover
        if self.kind == "bg_blurred":
            return replaced(images, cover, blurred(images, self.sigma)), cover
        if self.kind in MIXED:
            return replaced(images, cover, self.backgrounds(images, view)), cover
        return images * ~cover[:, None], cover

    def object_of(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W]: the pixels of each image's object; an image without any is excluded."""
        height, width = images.shape[2:]
        if self.foreground == "box":
            boxes = boxes_of(images, view)
            view.exclude(empty(boxes))
            return inside(boxes, height, width, images.device)
        assert view.masks is not None
        view.exclude((~view.masks.flatten(1).any(1)).cpu().numpy() if view.empty is None else view.empty)
        return view.masks

    def backgrounds(self, images: Tensor, view: View) -> Tensor:
        """uint8 [B, 3, H, W]: the background that each image borrows; notes whose it is, and excludes images that find none."""
        assert view.donors is not None
        pool = view.donors
        if not len(pool.ids):
            raise ValueError("expected at least one donor, got an empty pool")
        if pool.images.shape[1:] != images.shape[1:]:
            raise ValueError(f"expected donors of shape {list(images.shape[1:])}, got {list(pool.images.shape[1:])}")
        chosen = pool.lenders.choose(view.draw, view.labels, self.kind, self.own)
        view.exclude(chosen < 0)
        view.notes["donor"], view.notes["donor_class"] = (words[chosen] for words in pool.named)
        lent = pool.backgrounds(self.inpaint)[view.tensor(np.maximum(chosen, 0))]
        if (alone := np.flatnonzero(chosen < 0)).size:  # they keep their own, whatever else is in the pool
            rows = view.tensor(alone)
            lent[rows] = images[rows]
        return lent
