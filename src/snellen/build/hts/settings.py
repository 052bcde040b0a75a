"""How a human testing subset is chosen: every choice that changes a byte of it."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.build.clarity import PUBLISHED_PIXELS, PUBLISHED_SHARPNESS, Clarity
from snellen.errors import UserError

BOUNDS = {"per": (1, 100_000), "size": (8, 4096), "seed": (0, 2**63 - 1), "target": (0.0, 1.0)}


@dataclass(frozen=True)
class Settings:
    """Settings of a subset, with the published ones as defaults.

    Up to `per` images of each class and level are taken at random by the `seed`, of those with more than `min_pixels` pixels and
    a sharpness above `min_sharpness` (the variance of the Laplacian), measured on the image as it is or, with `resized`, scaled
    to `size` × `size`. Without `levels` all images of a class count as one level. With `calibrate`, texts of models, both bounds
    are chosen instead: those that keep most images of level 0 among those under which the models' mean accuracy on them reaches
    `target`. `labels` is a label map of these models.
    """

    per: int = 8
    min_pixels: float = PUBLISHED_PIXELS
    min_sharpness: float = PUBLISHED_SHARPNESS
    resized: bool = False
    size: int = 224
    levels: bool = True
    calibrate: tuple[str, ...] = ()
    target: float = 0.9
    labels: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, (low, high) in BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                raise UserError(f"expected --{name} from {low:g} to {high:,g}, got {getattr(self, name)}")
        _ = self.clarity  # a wrong bound is refused here

    @property
    def clarity(self) -> Clarity:
        """How clear an image must be, where that is not calibrated."""
        return Clarity(self.min_pixels, self.min_sharpness)
