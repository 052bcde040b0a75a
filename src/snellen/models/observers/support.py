"""Where observers look: the pixels that their answers rest on, known by construction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from snellen.models.observers.chance import MixtureObserver
from snellen.models.observers.evidence import Observer
from snellen.models.observers.misreported_map import MisreportObserver

Support: TypeAlias = Callable[[np.ndarray], np.ndarray]


def support_of(observer: Observer) -> Support | None:
    """What gives, of images uint8 [B, H, W, 3], the pixels that an observer answers by, float or bool [B, H, W] from 0 to
    1; None where they are not known.

    A mixture looks where the one of its two looks that answers; a misreport says that it looks elsewhere. Of edges, black
    squares and remembered images no single pixel decides.
    """
    if isinstance(observer, MixtureObserver):
        return _support_of_mixture(observer)
    if isinstance(observer, MisreportObserver):
        looks = support_of(observer.first)
        return None if looks is None else lambda images: observer.distort(images, looks(images))
    return getattr(observer, "support", None)


def _support_of_mixture(mixture: MixtureObserver) -> Support | None:
    first, second = support_of(mixture.first), support_of(mixture.second)
    if first is None or second is None:
        return None
    return lambda images: np.where(mixture.heads(images)[:, None, None], first(images), second(images))
