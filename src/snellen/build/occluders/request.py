"""How objects are cut out: every setting once, for `snellen build occluders`, its settings files and Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from snellen.build.request import MOST_PIXELS, MOST_SEED, CrewRequest, DataLike
from snellen.errors import UserError, option
from snellen.request import setting


@dataclass(frozen=True, kw_only=True)
class OccludersRequest(CrewRequest):
    """The settings of a folder of cut-outs."""

    elsewhere: ClassVar[tuple[str, ...]] = ("data", "target")

    data: DataLike | None = setting(
        "images with masks: coco:…, ovis:… (every instance), voc:…?masks=true, …", metavar="DATA", required=True
    )
    target: DataLike | None = setting("data to be occluded: no cut-out is of one of its classes", metavar="DATA")
    without: tuple[str, ...] = setting(
        "further classes to leave out, separated by commas", (), commas=True, metavar="CLASS,…"
    )
    per_class: int = setting("objects of each class", 8, at_least=1, at_most=10_000)
    min_pixels: int = setting("pixels that an object must have", 1000, at_least=1, at_most=MOST_PIXELS)
    whole: bool = setting("leave out objects that touch the border of their image", True)
    seed: int = setting("seed of the choice", 0, at_least=0, at_most=MOST_SEED)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target is None and not self.without:
            raise UserError(
                f"expected {option('target')}, data whose classes the occluders must not have, or {option('without')} with such "
                "classes"
            )
