"""`snellen build diffuse`: objects behind gates, lattices and solid boxes (Kassaw et al. 2024, section 7 and appendix F)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from snellen.build.covering.request import CoverRequest
from snellen.errors import UserError, option
from snellen.lazy_names import lister
from snellen.request import setting
from snellen.settings_file import door

if TYPE_CHECKING:
    from snellen.build.covering.building import CoveredBuilt

KINDS = ("vertical", "horizontal", "cross_hatch", "oblique")
SOLID, LATTICE = "solid", "lattice"
SHARES, PIXELS = (25, 50, 75), (1, 2, 4, 8, 16)

__all__ = ["DiffuseRequest", "build", "build_set"]
__dir__ = lister(__all__)


@dataclass(frozen=True, kw_only=True)
class DiffuseRequest(CoverRequest):
    """The settings of the diffuse set."""

    set_name: ClassVar[str] = "diffuse"

    box_law: Literal["paper", "code"] = setting(
        "sides of solid boxes as in the published code, or as the paper says", "code"
    )
    gate_law: Literal["paper", "code"] = setting(
        "which gates are drawn again, as the paper says or as the code does", "paper"
    )
    background: Literal["thin", "same", "bare"] = setting(
        "gates beside the object: thin (as published), same as over it, or bare", "thin"
    )
    shares: tuple[int, ...] = setting(
        "shares of lattices in percent, separated by commas", SHARES, commas=True, metavar="N,…"
    )
    pixels: tuple[int, ...] = setting(
        "sides of the squares of lattices in pixels, separated by commas", PIXELS, at_least=1, commas=True, metavar="N,…"
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        for share in self.shares:
            if share not in SHARES:
                raise UserError(f"expected {option('shares')} of {', '.join(map(str, SHARES))}, got {share}")

    def texts(self) -> dict[str, str]:
        law = "diffuse" if self.box_law == "paper" else "diffuse_code"
        how = f"background={self.background}, law={self.gate_law}{self.bounds}"
        return {
            SOLID: f"box({law}, grey{self.bounds})",
            **{kind: f"gates({kind}, {how})" for kind in KINDS},
            **{
                f"{LATTICE}_{share}_{side}": f"lattice({share / 100:g}, {side})"
                for share in self.shares
                for side in self.pixels
            },
        }


def build_set(request: DiffuseRequest) -> CoveredBuilt:
    """Put the objects of images with masks behind boxes, gates and lattices, one image per type, into the folder `out`.

    `data` are the images to test with, `train` those to train with; one of them may be None. Any number of `workers` gives the
    same bytes. A stopped build resumes; a finished one is left as it is.

    >>> from snellen.build.diffuse import build
    >>> built = build("phantom:test?size=32&n=12", "covered", size=32, workers=1)
    >>> built.out.name
    'covered'
    """
    from snellen.build.covering.building import CoveredSet

    return CoveredSet(request).run()


build = door(build_set, DiffuseRequest, "data", "out", quiet=True)
