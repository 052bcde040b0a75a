"""`a | b`: one distortion after another, and `none()`, which changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.distort.distortion import Covering, Distortion, Moving
from snellen.distort.photometric.stage import Photometric
from snellen.distort.photometric.tones import Tones
from snellen.distort.view import View
from snellen.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Nothing(Distortion):
    """The clean image, `none()` in the language."""

    version: ClassVar[int] = 1
    identity: ClassVar[dict[str, object]] = {}

    def __str__(self) -> str:
        return "none()"

    def __call__(self, images: Tensor, view: View) -> Tensor:
        return images

    def words(self) -> str:
        return "clean"


@dataclass(frozen=True)
class Chain(Distortion):
    """Distortions applied from left to right; each draws at its own stage."""

    stages: tuple[Distortion, ...]

    def __call__(self, images: Tensor, view: View) -> Tensor:
        return show(self, images, view)[0]

    @property
    def version(self) -> str:
        return "|".join(str(stage.version) for stage in self.stages)

    @property
    def needs(self) -> frozenset[str]:
        return frozenset().union(*(stage.needs for stage in self.stages))

    @property
    def draws(self) -> bool:
        return any(stage.draws for stage in self.stages)

    @property
    def floating(self) -> bool:
        return any(stage.floating for stage in self.stages)

    @property
    def own_data(self) -> bool:
        return all(stage.own_data for stage in self.stages if "donors" in stage.needs)

    @property
    def whole_pool(self) -> bool:
        return any(stage.whole_pool for stage in self.stages)

    @property
    def donor_objects(self) -> bool:
        return any(stage.donor_objects for stage in self.stages)

    @property
    def packages(self) -> Mapping[str, str]:
        return {name: use for stage in self.stages for name, use in stage.packages.items()}

    def check_size(self, height: int, width: int) -> None:
        for stage in self.stages:
            stage.check_size(height, width)

    def words(self) -> str:
        return ", then ".join(stage.words() for stage in self.stages)

    def __str__(self) -> str:
        return " | ".join(map(str, self.stages))


def chained(first: Distortion, second: Distortion) -> Chain:
    """Both in one chain; chains are flattened, so `a | (b | c)` is `a | b | c`."""
    return Chain((*stages_of(first), *stages_of(second)))


def stages_of(distortion: Distortion) -> tuple[Distortion, ...]:
    """The stages of a chain, or the one distortion."""
    return distortion.stages if isinstance(distortion, Chain) else (distortion,)


def show(distortion: Distortion, images: Tensor, view: View) -> tuple[Tensor, Tensor | None]:
    """The distorted images and the pixels that were painted over (bool [B, H, W]; None where nothing covers).

    Each cover is made once and moves along with later geometric stages, and so does what is known of the clean images' pixels.
    Photometric stages that follow each other share their tones, so that their tables become one.

    >>> from snellen.distort import View, parse, show
    >>> import torch
    >>> images = torch.zeros(1, 3, 8, 8, dtype=torch.uint8)
    >>> shown, covered = show(parse("occlude(0.25, white)"), images, View.of(["a"]))
    >>> int(covered.sum())
    16
    """
    cover: Tensor | None = None
    tones: Tones | None = None
    for number, stage in enumerate(stages_of(distortion)):
        at = view.at_stage(number)
        if isinstance(stage, Photometric):
            tones = tones or Tones(images)
            stage.develop(tones, at)
            continue
        images, tones = (images if tones is None else tones.pixels), None
        if isinstance(stage, Covering):
            images, own = stage.paste(images, at)
            cover = own if cover is None else cover | own
            continue
        images = changed_by(stage, images, at)
        if isinstance(stage, Moving):
            cover = None if cover is None else stage.move(cover, at)
            view = stage.carry(view, at, *images.shape[-2:])
    return (images if tones is None else tones.pixels), cover


def changed_by(stage: Distortion, images: Tensor, view: View) -> Tensor:
    """The images that a stage makes, which must be of the same type and shape."""
    shown = stage(images, view)
    if shown.dtype != images.dtype or shown.shape != images.shape:
        raise UserError(
            f"distortion '{stage}' made {shown.dtype} {list(shown.shape)} of {images.dtype} {list(images.shape)}; it must keep "
            "type and shape"
        )
    return shown


def moved(distortion: Distortion, maps: Tensor, view: View) -> Tensor:
    """Maps [B, H, W] (masks, labels) after the distortion's geometric stages.

    >>> from snellen.distort import View, moved, parse
    >>> import torch
    >>> masks = torch.zeros(1, 4, 4, dtype=torch.bool)
    >>> masks[0, 0, 0] = True
    >>> moved(parse("rotate(180)"), masks, View.of(["a"])).nonzero().tolist()
    [[0, 3, 3]]
    """
    for number, stage in enumerate(stages_of(distortion)):
        if isinstance(stage, Moving):
            maps = stage.move(maps, view.at_stage(number))
    return maps
