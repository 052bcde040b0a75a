"""Occluders whose place is drawn, and drawn again until the share of the object that they hide is allowed."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from snellen.distort.distortion import Covering
from snellen.distort.view import View
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

ATTEMPTS = 100  # places tried for one image, before it counts nowhere
Window = tuple[slice, slice]
_SLACK = 1e-9  # of a share: 5 of 100 pixels are 0.05, whatever floating point makes of it


@dataclass(frozen=True)
class Hidden:
    """Pixels per sample, int64 [B]: how many are the object's and the background's, and how many of them are hidden."""

    object: np.ndarray
    object_hidden: np.ndarray
    background: np.ndarray
    background_hidden: np.ndarray

    @classmethod
    def under(cls, cover: Tensor, masks: Tensor) -> Hidden:
        """The counts of covers and of the objects' masks, bool [B, H, W] each."""
        parts = [part.flatten(1).sum(1, dtype=torch.int32) for part in (masks, cover & masks, cover)]
        of_object, object_hidden, hidden = torch.stack(parts).cpu().numpy().astype(np.int64)
        pixels = masks.shape[1] * masks.shape[2]
        return cls(of_object, object_hidden, pixels - of_object, hidden - object_hidden)

    def object_within(self, least: float, most: float) -> np.ndarray:
        """bool [B]: whether the hidden share of the object lies in [least, most]; never where there is no object."""
        low, high = (share * self.object for share in (least - _SLACK, most + _SLACK))
        return (self.object > 0) & (low <= self.object_hidden) & (self.object_hidden <= high)


class Placing(Covering):
    """A distortion that draws where its occluder stands. Where `least` and `most` bound the hidden share of the object, a
    place that breaks them is drawn again; an image for which no place is allowed stays as it is and counts nowhere."""

    @property
    @abstractmethod
    def least(self) -> float: ...

    @property
    @abstractmethod
    def most(self) -> float: ...

    @abstractmethod
    def place(self, view: View, height: int, width: int, attempt: int) -> np.ndarray:
        """int64 [B, n]: one draw of all that says where each sample's occluder stands."""

    @abstractmethod
    def hide(self, places: np.ndarray, height: int, width: int, view: View) -> Tensor:
        """bool [B, H, W]: the pixels under occluders in these places."""

    @property
    def selective(self) -> bool:
        """Whether some places are refused, for which the objects' masks must be known."""
        return self.least > 0 or self.most < 1

    def allows(self, hidden: Hidden) -> np.ndarray:
        """bool [B]: which samples may be shown like this."""
        return hidden.object_within(self.least, self.most)

    def hopeful(self, places: np.ndarray, view: View, pixels: np.ndarray, window: Window) -> np.ndarray:
        """bool [B]: which places may be allowed, told from less than the whole cover; the others would be refused for sure.

        `pixels` [B] is the size of each object, and all objects lie in the `window`.
        """
        return np.ones(len(places), bool)

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | ({"masks"} if self.selective else frozenset())

    def cover(self, images: Tensor, view: View) -> Tensor:
        """bool [B, H, W]."""
        return self.settle(images, view)[1]

    def settle(self, images: Tensor, view: View) -> tuple[np.ndarray, Tensor]:
        """The places that are allowed, int64 [B, n], and the cover, bool [B, H, W]; samples without one are excluded."""
        height, width = images.shape[2:]
        places = self.place(view, height, width, 0)
        cover = self.hide(places, height, width, view)
        if not self.selective:
            return places, cover
        assert view.masks is not None
        hidden = Hidden.under(cover, view.masks)
        refused = ~self.allows(hidden)
        left = np.flatnonzero(refused & (hidden.object > 0))  # without an object no draw would help
        window = _window(view.masks) if left.size else (slice(0), slice(0))
        for attempt in range(1, ATTEMPTS):
            if not left.size:
                break
            part = view.at(left)
            places[left] = self.place(part, height, width, attempt)
            hopeful = self.hopeful(places[left], part, hidden.object[left], window)
            if hopeful.any():
                tried, part = left[hopeful], part if hopeful.all() else part.at(np.flatnonzero(hopeful))
                assert part.masks is not None
                again = self.hide(places[tried], height, width, part)
                cover[view.tensor(tried)] = again
                refused[tried] = ~self.allows(Hidden.under(again, part.masks))
            left = np.flatnonzero(refused & (hidden.object > 0))
        if refused.any():
            view.exclude(refused)
            cover[view.tensor(np.flatnonzero(refused))] = False
        return places, cover


def _window(masks: Tensor) -> Window:
    """The rows and columns between which all objects lie."""
    some = masks.any(0)
    rows, columns = (np.flatnonzero(some.any(axis).cpu().numpy()) for axis in (1, 0))
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def expect_shares(least: float, most: float) -> None:
    """Raise unless the bounds of the hidden share leave a range."""
    if not 0 <= least <= most <= 1:
        raise ValueError(f"expected 0 ≤ least ≤ most ≤ 1, got least={least:g} and most={most:g}")


def hiding_in_words(least: float, most: float) -> str:
    """What the bounds of the hidden share add to the words of a report."""
    return f", hiding {100 * least:g}–{100 * most:g}% of the object" if least > 0 or most < 1 else ""
