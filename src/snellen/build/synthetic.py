"""`snellen build synthetic`: objects under boxes and cut-out objects (Kassaw et al. 2024, section 4 and appendix E)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from snellen.build.covering.building import Built, Sides, build_covered
from snellen.build.covering.settings import Settings, expect_word
from snellen.data.dataset import Dataset
from snellen.errors import UserError

FILLS = ("black", "white", "noise", "stripes")
OBJECT = "object"


@dataclass(frozen=True, kw_only=True)
class SyntheticSettings(Settings):
    """Settings of the synthetic set; the defaults are the paper's rules, see `Settings` for what it shares with the diffuse one.

    `law` is how the sides of boxes are drawn, as the `paper` says or as the published `code` does. `occluders` is a folder of
    cut-outs; they take up `object_size` of the image, in its aspect unless they are not to `stretch`.
    """

    set_name: ClassVar[str] = "synthetic"

    outside: Literal["redraw", "drop"] = "drop"
    law: Literal["paper", "code"] = "paper"
    occluders: str | None = None
    object_size: float = 0.25
    stretch: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_word("law", self.law, ("paper", "code"))
        if not 0 < self.object_size <= 1:
            raise UserError(f"expected --object-size above 0, up to 1, got {self.object_size:g}")
        if OBJECT in self.types and self.occluders is None:
            raise UserError(
                "type 'object' needs --occluders DIR, a folder of cut-outs; snellen build occluders makes one"
            )

    def notes(self) -> list[str]:
        if self.types or self.occluders is not None:
            return []
        return [
            "without --occluders DIR there are no images of the type 'object'; snellen build occluders makes such a folder"
        ]

    def texts(self) -> dict[str, str]:
        law = "synthetic" if self.law == "paper" else "synthetic_code"
        texts = {fill: f"box({law}, {fill}{self.bounds})" for fill in FILLS}
        if self.occluders is not None:
            stretch = "true" if self.stretch else "false"
            texts[OBJECT] = f"cutout_object({self.object_size:g}, stretch={stretch}{self.bounds})"
        return texts


def build(
    data: str | Dataset | None,
    out: str | Path,
    *,
    train: str | Dataset | None = None,
    limit: int | None = None,
    workers: int | None = None,
    quiet: bool = True,
    **settings: Any,
) -> Built:
    """Cover the objects of images with masks by boxes and cut-out objects, one image per type, into the folder `out`.

    `data` are the images to test with, `train` those to train with; one of them may be None. `settings` are those of
    `SyntheticSettings`, such as law="code". `limit` takes at most so many images of either. Any number of `workers` (processes;
    default one per core) gives the same bytes. A stopped build resumes; a finished one is left as it is.
    """
    chosen = SyntheticSettings(**settings)
    return build_covered(Sides.of(data, train, limit), chosen, out, workers, quiet)
