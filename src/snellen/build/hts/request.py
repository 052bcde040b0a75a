"""How a human testing subset is chosen: every setting once, for `snellen build hts`, its settings files and Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from snellen.build.request import MOST_PIXELS, MOST_SEED, MOST_SHARPNESS, CrewRequest, DataLike
from snellen.errors import UserError, is_command, option
from snellen.request import setting

if TYPE_CHECKING:
    from snellen.build.clarity import Clarity


@dataclass(frozen=True, kw_only=True)
class HtsRequest(CrewRequest):
    """The settings of a subset, with the published ones as defaults.

    With `calibrate` both bounds are chosen: those that keep most images of level 0 among those under which the models' mean
    accuracy on them reaches `target`. `bands` chooses for the diffuse experiment, 2 or 3 (`per`) of each type and band.
    """

    elsewhere: ClassVar[tuple[str, ...]] = ("data", "limit")

    data: DataLike | None = setting(
        "images with levels of occlusion, such as manifest:iruo/val.csv", metavar="DATA", required=True
    )
    per: int = setting("images per class and level", 8, at_least=1, at_most=100_000)
    min_pixels: float = setting("images have more pixels than this", 10_000.0, at_least=0, at_most=MOST_PIXELS)
    min_sharpness: float = setting(
        "and a variance of the Laplacian above this", 20.0, at_least=0, at_most=MOST_SHARPNESS
    )
    resized: bool = setting(
        "measure the sharpness at this size, or on the image as it is", False, flag="--resized/--native"
    )
    size: int = setting("width and height for --resized", 224, at_least=8, at_most=4096)
    levels: bool = setting("so many per class and level, or per class alone", True)
    bands: bool = setting(
        "so many per class, type of occluder and band of the hidden share, as snellen build diffuse writes them", False
    )
    calibrate: tuple[str, ...] = setting(
        "choose both bounds by this model's answers at level 0; repeat for several", (), metavar="MODEL"
    )
    target: float = setting("mean accuracy at level 0 that the bounds must give", 0.9, at_least=0, at_most=1)
    labels: str | None = setting("label map of these models; default matches class names", metavar="FILE")
    seed: int = setting("seed of the choice", 0, at_least=0, at_most=MOST_SEED)
    limit: int | None = setting("look at no more than N images", at_least=1, at_most=10**9)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bands and not self.levels:
            no_levels = "--no-levels" if is_command() else "levels=False"
            raise UserError(f"expected {option('bands')} or {no_levels}, got both")

    @property
    def clarity(self) -> Clarity:
        """How clear an image must be, where that is not calibrated."""
        from snellen.build.clarity import Clarity

        return Clarity(self.min_pixels, self.min_sharpness)
