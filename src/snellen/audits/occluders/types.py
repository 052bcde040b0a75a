"""Types of occluders, in words and as distortions of unoccluded images (Kassaw et al. 2024, sections 6.2 and 6.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from snellen.audits.exam import Exam
from snellen.data.dataset import Samples
from snellen.data.ovis.levels import WORDS
from snellen.distort import Box, CutoutObject, Distortion, Gates, Lattice, parse
from snellen.engine.requests.cell import Cell
from snellen.measure.occlusion_levels import POOLS

Synthetic: TypeAlias = Literal["black", "white", "noise", "stripes", "object", "texture"]
Diffuse: TypeAlias = Literal["solid", "vertical", "horizontal", "cross_hatch", "oblique"]
Family: TypeAlias = Literal["synthetic", "diffuse", "lattice"]

AUDIT = "occluders"
RENAMED: Mapping[Synthetic, Synthetic] = {"texture": "stripes"}  # the paper's word, which earlier versions took
REAL = "real"
RIGHT_ANGLE = "right-angle"  # the pool of lines that run along the sides, or cross so
UNOCCLUDED = "unoccluded"  # the role of the images without occlusion, where the data have others
LEAST, MOST = 0.05, 0.95  # of the object: the published bounds
WIDEST_SPACING = 19  # pixels, of drawn gates
IN_WORDS = {
    "black": "black boxes",
    "white": "white boxes",
    "noise": "boxes of noise",
    "stripes": "striped boxes",
    "texture": "striped boxes",  # in findings of earlier versions
    "object": "cut-out objects",
    "solid": "solid grey boxes",
    "vertical": "vertical lines",
    "horizontal": "horizontal lines",
    "cross_hatch": "cross-hatched lines",
    "oblique": "oblique lines",
    RIGHT_ANGLE: "lines at right angles",
    REAL: "real occlusion",
}
_OF_CLASS = {"same class": "the object's class", "other class": "another class", "unknown occluder": "unknown class"}


@dataclass(frozen=True)
class OccluderType:
    """A type of occluder and how it is shown; `judge` ranks models together with others of its name, `share` is that of a
    lattice."""

    name: str
    family: Family
    distortion: Distortion
    judge: str
    share: float | None = None

    def cell(self, exam: Exam) -> Cell:
        """The question about the unoccluded images under it."""
        return exam.cell(self.distortion, UNOCCLUDED if UNOCCLUDED in exam.parts else "test")

    @property
    def pool(self) -> str:
        """The coarse type that it belongs to."""
        return POOLS.get(self.name, self.name)


@dataclass(frozen=True)
class TypeChoice:
    """Which types are asked for, and how many pixels the squares of lattices have."""

    synthetic: Sequence[Synthetic]
    diffuse: Sequence[Diffuse]
    lattices: Sequence[float]
    px: Sequence[int]

    def types(self, exam: Exam) -> list[OccluderType]:
        """The types that data and cut-outs allow, in the order of the paper."""
        masks = has_masks(exam)
        plain = [
            OccluderType(name, "synthetic", _synthetic(name, masks), name)
            for name in self.synthetic
            if name != "object" or exam.cutouts
        ]
        lines = [OccluderType(name, "diffuse", _diffuse(name, masks, exam.side), name) for name in self.diffuse]
        squares = [
            OccluderType(
                f"lattice {size} px, {share:.0%}", "lattice", Lattice(share, size), f"lattice {size} px", share
            )
            for size in self.px
            if 2 * size <= exam.side
            for share in self.lattices
        ]
        return [*plain, *lines, *squares]


def type_words(name: str, relation: str, distortions: Sequence[str]) -> str:
    """A type inside a sentence: real occluders by their class (`relation`), lattices by the size of their squares."""
    if relation:
        return f"real occluders of {_OF_CLASS[relation]}"
    size = lattice_px(distortions)
    return IN_WORDS[name] if size is None else f"lattices of {size} px"


def lattice_px(distortions: Sequence[str]) -> int | None:
    """The pixels of the squares, where what was shown are lattices of one size."""
    shown = parse(distortions[0]) if distortions else None
    return shown.px if isinstance(shown, Lattice) else None


def has_masks(exam: Exam) -> bool:
    """Whether the objects of the test images are known pixel by pixel."""
    return "masks" in exam.facts.get("test", ())


def real_levels(samples: Samples) -> np.ndarray:
    """int64 [samples]: the level of real occlusion, 0, 1, 2 or −1 where it is not known; all 0 for data without levels."""
    column = samples.columns.get("level")
    if column is None:
        return np.zeros(len(samples), np.int64)
    return levels_of_words(np.asarray(column).tolist())


def levels_of_words(words: Iterable[object]) -> np.ndarray:
    """int64 [words]: the levels that a column names, −1 for what names none."""
    return np.array([WORDS.get(str(word), -1) for word in words], np.int64)


def _synthetic(name: Synthetic, masks: bool) -> Distortion:
    least, most = _bounds(masks)
    if name == "object":
        return CutoutObject(least=least, most=most)
    return Box("synthetic", "stripes" if name == "texture" else name, least, most)


def _diffuse(name: Diffuse, masks: bool, side: int) -> Distortion:
    least, most = _bounds(masks)
    if name == "solid":
        return Box("diffuse_code", "grey", least, most)
    spacing = None if side >= WIDEST_SPACING else max(side // 2, 2)
    return Gates(name, spacing=spacing, background="thin" if masks else "same", least=least, most=most)


def _bounds(masks: bool) -> tuple[float, float]:
    """The hidden shares of the object that are allowed; all where there is no object to measure."""
    return (LEAST, MOST) if masks else (0.0, 1.0)
