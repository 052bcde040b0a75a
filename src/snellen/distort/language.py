"""The text language of distortions: the table of names and `parse`."""

from __future__ import annotations

from collections.abc import Iterable

from snellen import notation
from snellen.distort.background import Background
from snellen.distort.blur import Blur
from snellen.distort.chain import Chain, Nothing, stages_of
from snellen.distort.cover import Occlude, Tiles
from snellen.distort.cutouts import Cutouts
from snellen.distort.distortion import Distortion
from snellen.distort.fourier import Fourier
from snellen.distort.geometric import GEOMETRIC
from snellen.distort.jpeg import Jpeg
from snellen.distort.law import LAWS
from snellen.distort.mix import Mix
from snellen.distort.noise import Noise
from snellen.distort.occluders import OCCLUDERS
from snellen.distort.photometric import PHOTOMETRIC
from snellen.distort.salient import Salient
from snellen.distort.shuffle import Shuffle
from snellen.distort.soft_shuffle import SoftShuffle
from snellen.errors import UserError

DISTORTIONS: dict[str, type[Distortion]] = {
    "none": Nothing,
    "occlude": Occlude,
    "tiles": Tiles,
    "fourier": Fourier,
    "salient": Salient,
    "cutouts": Cutouts,
    **OCCLUDERS,
    "shuffle": Shuffle,
    "soft_shuffle": SoftShuffle,
    "noise": Noise,
    "mix": Mix,
    "background": Background,
    **PHOTOMETRIC,
    **GEOMETRIC,
    "blur": Blur,
    "jpeg": Jpeg,
}


def parse(source: str | Distortion) -> Distortion:
    """The distortion a text names, such as `occlude(0.3, noise) | shuffle(4)`; a distortion passes through."""
    if isinstance(source, str):
        return from_node(notation.read(source))
    if not isinstance(source, Distortion):
        raise UserError(
            f"expected a distortion or its text, got {source!r}; a distortion of your own is a subclass of "
            "snellen.distort.Distortion"
        )
    return source


def parse_each(sources: Iterable[str | Distortion | None]) -> tuple[Distortion, ...]:
    """The distortions of an audit's parameter; `none` in a list is the word for nothing, so it stands for `none()`."""
    return tuple(Nothing() if source is None else parse(source) for source in sources)


def from_node(node: object) -> Distortion:
    """The distortion of a node that the text reader made."""
    if isinstance(node, notation.Pipe):
        return Chain(tuple(stage for part in node.parts for stage in stages_of(from_node(part))))
    distortion: Distortion = notation.build(node, DISTORTIONS, "distortion", _parameter)
    return distortion


def _parameter(node: object) -> object:
    return notation.build(node, LAWS, "law") if isinstance(node, notation.Call) else node
