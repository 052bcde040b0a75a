"""Mixed images: MixUp, CutMix and FMix with a partner, of which an image always keeps the larger part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from snellen.distort.cover import span
from snellen.distort.distortion import Distortion
from snellen.distort.draws import NORMAL_BITS
from snellen.distort.fourier import brightest, low_frequency_field, noise_shape
from snellen.distort.law import SMALLEST, Beta
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

NAMES = {"mixup": "MixUp", "cutmix": "CutMix", "fmix": "FMix"}
_BITS = 14  # blending weights are whole numbers of 2^-14, so that every device rounds alike


@dataclass(frozen=True)
class Mix(Distortion):
    """Mix each image with a partner from the donors; the image itself is always the majority, so its label stays.

    A weight λ is drawn from Beta(`alpha`, `alpha`), and max(λ, 1 − λ) is the image's own share. `kind=mixup` blends;
    `cutmix` pastes a box of the partner (any centre, cut off at the border); `fmix` pastes where a random low-frequency
    image is brightest, as published. `alpha=0` is the limit in which nothing is mixed. An audit without `--donors`
    takes the partners from the test data. A partner is never the image itself; where there is no other, the image
    counts nowhere.
    """

    kind: Literal["mixup", "cutmix", "fmix"] = "mixup"
    alpha: float = 1.0
    version: ClassVar[int] = 1
    draws: ClassVar[bool] = True
    identity: ClassVar[dict[str, object]] = {"alpha": 0}
    needs: ClassVar[frozenset[str]] = frozenset({"donors"})
    own_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1000:
            raise ValueError(f"expected alpha in [0, 1000], got {self.alpha:g}")
        if 0 < self.alpha < SMALLEST:
            raise ValueError(f"expected alpha of 0 or at least {SMALLEST:g}, got {self.alpha:g}")

    @property
    def floating(self) -> bool:
        return self.kind == "fmix"

    def __call__(self, images: Tensor, view: View) -> Tensor:
        partner = _partner_images(images, view)[view.tensor(partners(view))]
        share = self.share(view)
        if self.kind == "mixup":
            return _blended(images, partner, view.tensor(np.rint(share * 2**_BITS).astype(np.int32)))
        pasted = MASKS[self.kind](images, view, share)
        return torch.where(pasted[:, None], partner, images)

    def share(self, view: View) -> np.ndarray:
        """float64 [B]: the partner's share of each image, 0 to 1/2."""
        if self.alpha == 0:
            return np.zeros(len(view.keys))
        weight = Beta(self.alpha, self.alpha).quantile(view.draw.uniform("weight"))
        return np.minimum(weight, 1 - weight)

    def words(self) -> str:
        return f"{NAMES[self.kind]} with another image"


def partners(view: View) -> np.ndarray:
    """int64 [B]: one of the donors for each image, uniformly, never itself; notes their ids.

    An image that is the only donor is excluded and gets itself.
    """
    assert view.donors is not None
    pool = view.donors
    if not len(pool.ids):
        raise ValueError("expected at least one donor, got an empty pool")
    order = np.argsort(pool.keys, kind="stable")
    place = np.minimum(np.searchsorted(pool.keys[order], view.keys), len(order) - 1)
    own = np.where(pool.keys[order][place] == view.keys, order[place], len(order))  # behind the last: not a donor
    others = len(order) - (own < len(order))
    among_others = view.draw.integer("partner", np.maximum(others, 1))
    chosen = np.where(others > 0, among_others + (among_others >= own), 0)
    if not others.all():
        view.exclude(others == 0)
    view.notes["donor"] = np.array(pool.ids, dtype=object)[chosen]
    return chosen


def _partner_images(images: Tensor, view: View) -> Tensor:
    assert view.donors is not None
    pool = view.donors.images
    if pool.shape[1:] != images.shape[1:]:
        raise ValueError(f"expected donors of shape {list(images.shape[1:])}, got {list(pool.shape[1:])}")
    return pool


def _blended(images: Tensor, partner: Tensor, weight: Tensor) -> Tensor:
    """Images plus `weight` [B] (in 2^-14) of the way to the other ones, rounded."""
    way = (partner.to(torch.int32) - images).mul_(weight[:, None, None, None])
    return way.add_(1 << (_BITS - 1)).bitwise_right_shift_(_BITS).add_(images).to(torch.uint8)


def _box(images: Tensor, view: View, share: np.ndarray) -> Tensor:
    """bool [B, H, W]: boxes of at most the share, with even sides and any pixel as centre, cut off at the border."""
    down, across = (
        span(view, name, np.floor(np.sqrt(share) * length).astype(np.int64) // 2 * 2, length, inside=False)
        for name, length in zip(("top", "left"), images.shape[2:])
    )
    return down[:, :, None] & across[:, None, :]


def _field(images: Tensor, view: View, share: np.ndarray) -> Tensor:
    """bool [B, H, W]: the brightest pixels of a random low-frequency image, as many as the share allows."""
    height, width = images.shape[2:]
    draws = view.draw.normal("spectrum", noise_shape("official", height, width))
    field = low_frequency_field(draws.float() / 2**NORMAL_BITS, "official", height, width)
    return brightest(field, np.floor(share * height * width).astype(np.int64))


MASKS: dict[str, Callable[[Tensor, View, np.ndarray], Tensor]] = {"cutmix": _box, "fmix": _field}
