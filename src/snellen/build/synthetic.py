"""`snellen build synthetic`: objects under boxes and cut-out objects (Kassaw et al. 2024, section 4 and appendix E)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from snellen.build.covering.request import CoverRequest, outside_setting
from snellen.errors import UserError, option
from snellen.lazy_names import lister
from snellen.request import setting
from snellen.settings_file import door

if TYPE_CHECKING:
    from snellen.build.covering.building import CoveredBuilt

FILLS = ("black", "white", "noise", "stripes")
OBJECT = "object"

__all__ = ["SyntheticRequest", "build", "build_set"]
__dir__ = lister(__all__)


@dataclass(frozen=True, kw_only=True)
class SyntheticRequest(CoverRequest):
    """The settings of the synthetic set; the defaults are the paper's rules."""

    set_name: ClassVar[str] = "synthetic"

    outside: Literal["redraw", "drop"] = outside_setting("drop")
    law: Literal["paper", "code"] = setting(
        "sides of boxes as the paper says, or as the published code draws them", "paper"
    )
    occluders: str | None = setting(
        "folder of cut-outs for the type 'object'; snellen build occluders makes one", metavar="DIR"
    )
    object_size: float = setting("share of the image that a cut-out takes up", 0.25, above=0, at_most=1)
    stretch: bool = setting("cut-outs in the aspect of the image, or in their own", True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if OBJECT in self.types and self.occluders is None:
            folder = f"{option('occluders')}, a folder of cut-outs"
            raise UserError(f"type 'object' needs {folder}; snellen build occluders makes one")

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


def build_set(request: SyntheticRequest) -> CoveredBuilt:
    """Cover the objects of images with masks by boxes and cut-out objects, one image per type, into the folder `out`.

    `data` are the images to test with, `train` those to train with; one of them may be None. Any number of `workers` gives the
    same bytes. A stopped build resumes; a finished one is left as it is.

    >>> from snellen.build.synthetic import build
    >>> built = build("phantom:test?size=32&n=12", "covered", size=32, types=["black"], workers=1)
    >>> built.out.name
    'covered'
    """
    from snellen.build.covering.building import CoveredSet

    return CoveredSet(request).run()


build = door(build_set, SyntheticRequest, "data", "out", quiet=True)
