"""`snellen build diffuse`: objects behind gates, lattices and solid boxes (Kassaw et al. 2024, section 7 and appendix F)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from snellen.build.covering.building import Built, Sides, build_covered
from snellen.build.covering.settings import Settings, expect_word
from snellen.data.dataset import Dataset
from snellen.errors import UserError

KINDS = ("vertical", "horizontal", "cross_hatch", "oblique")
SOLID, LATTICE = "solid", "lattice"
SHARES, PIXELS = (25, 50, 75), (1, 2, 4, 8, 16)


@dataclass(frozen=True, kw_only=True)
class DiffuseSettings(Settings):
    """Settings of the diffuse set; see `Settings` for what it shares with the synthetic one.

    `box_law` is how the sides of solid boxes are drawn and `gate_law` which gates are drawn again, as the `paper` says or as the
    published `code` does. `background` is what lies beside the object: `thin` lines as published, the `same` as over it, or none
    (`bare`). Lattices hide the `shares` (in percent) of the image, in squares of so many `pixels`.
    """

    set_name: ClassVar[str] = "diffuse"

    box_law: Literal["paper", "code"] = "code"
    gate_law: Literal["paper", "code"] = "paper"
    background: Literal["thin", "same", "bare"] = "thin"
    shares: tuple[int, ...] = SHARES
    pixels: tuple[int, ...] = PIXELS

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("box_law", "gate_law"):
            expect_word(name, getattr(self, name), ("paper", "code"))
        expect_word("background", self.background, ("thin", "same", "bare"))
        for share in self.shares:
            if share not in SHARES:
                raise UserError(f"expected --shares of {', '.join(map(str, SHARES))}, got {share}")
        for side in self.pixels:
            if side < 1:
                raise UserError(f"expected --pixels of at least 1, got {side}")

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
    """Put the objects of images with masks behind boxes, gates and lattices, one image per type, into the folder `out`.

    `settings` are those of `DiffuseSettings`, such as background="same"; all else as in `snellen.build.synthetic.build`.
    """
    chosen = DiffuseSettings(**settings)
    return build_covered(Sides.of(data, train, limit), chosen, out, workers, quiet)
