"""`a | b`: one distortion after another, and `none()`, which changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from snellen.distort.fills import painted
from snellen.distort.view import View

if TYPE_CHECKING:
    from torch import Tensor


class Distortion(Protocol):
    """What every distortion offers: a call from uint8 [B, 3, H, W] to the same shape.

    `needs` names facts of the View; `version` is bumped by hand when pixels change. Those that cover pixels also have
    `cover(images, view) → bool [B, H, W]` and a `fill`, or `paste(images, view) → images, cover` for pixels of their own;
    geometric ones have `move(maps, view)` for masks and label maps.
    """

    @property
    def needs(self) -> frozenset[str]: ...
    @property
    def version(self) -> Any: ...
    def __call__(self, images: Tensor, view: View) -> Tensor: ...
    def __or__(self, other: Any) -> Chain: ...


@dataclass(frozen=True)
class Chain:
    """Distortions applied from left to right; each draws at its own stage."""

    stages: tuple[Any, ...]

    @property
    def version(self) -> str:
        return "|".join(str(stage.version) for stage in self.stages)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset().union(*(stage.needs for stage in self.stages))

    def __str__(self) -> str:
        return " | ".join(map(str, self.stages))

    def __or__(self, other: Any) -> Chain:
        return chained(self, other)

    def __call__(self, images: Tensor, view: View) -> Tensor:
        return show(self, images, view)[0]


def chained(first: Any, second: Any) -> Chain:
    """Both in one chain; chains are flattened, so `a | (b | c)` is `a | b | c`."""
    return Chain((*stages_of(first), *stages_of(second)))


def stages_of(distortion: Any) -> tuple[Any, ...]:
    """The stages of a chain, or the one distortion."""
    return distortion.stages if isinstance(distortion, Chain) else (distortion,)


@dataclass(frozen=True)
class Nothing:
    """The clean image, `none()` in the language."""

    version: ClassVar[int] = 1
    still: ClassVar[str] = "none()"
    needs: ClassVar[frozenset[str]] = frozenset()

    __or__ = chained

    def __str__(self) -> str:
        return "none()"

    def __call__(self, images: Tensor, view: View) -> Tensor:
        return images


def show(distortion: Any, images: Tensor, view: View) -> tuple[Tensor, Tensor | None]:
    """The distorted images and the pixels that were painted over (bool [B, H, W]; None where nothing covers).

    Each cover is made once and moves along with later geometric stages, and so does the saliency of the clean images.
    """
    cover: Tensor | None = None
    for number, stage in enumerate(stages_of(distortion)):
        at = view.at_stage(number)
        if hasattr(stage, "cover"):
            if hasattr(stage, "paste"):
                images, own = stage.paste(images, at)
            else:
                own = stage.cover(images, at)
                images = painted(stage.fill, own, images, at)
            cover = own if cover is None else cover | own
        else:
            images = stage(images, at)
            if cover is not None and hasattr(stage, "move"):
                cover = stage.move(cover, at)
            if view.saliency is not None and hasattr(stage, "move"):
                view = replace(view, saliency=stage.move(view.saliency, at), ranks=None)
    return images, cover


def moved(distortion: Any, maps: Tensor, view: View) -> Tensor:
    """Maps [B, H, W] (masks, labels) after the distortion's geometric stages."""
    for number, stage in enumerate(stages_of(distortion)):
        if hasattr(stage, "move"):
            maps = stage.move(maps, view.at_stage(number))
    return maps
