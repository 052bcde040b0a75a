"""How distortions are named: the text language (the table of names and `parse`), and the words of reports."""

from __future__ import annotations

from collections.abc import Iterable

from snellen import notation
from snellen.distort.background import KINDS, Background
from snellen.distort.blur import Blur
from snellen.distort.chain import Chain, Nothing, stages_of
from snellen.distort.corruptions import Corruption
from snellen.distort.cover import Occlude, Tiles
from snellen.distort.cutouts import Cutouts
from snellen.distort.delivery import Again, Rescale
from snellen.distort.distortion import Covering, Distortion
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
from snellen.plugins import PluginTable, dataclass_of

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
    "rescale": Rescale,
    "again": Again,
    "background": Background,
    **PHOTOMETRIC,
    **GEOMETRIC,
    "blur": Blur,
    "jpeg": Jpeg,
    "corruption": Corruption,
}
PLUGGED = PluginTable(
    "distortions",
    DISTORTIONS,
    lambda name, thing, _: dataclass_of(Distortion, name, thing),  # type: ignore[type-abstract]
)
VARIANTS = KINDS  # also of images that lie on disk, which have no distortion


def parse(source: str | Distortion) -> Distortion:
    """The distortion a text names, such as `occlude(0.3, noise) | shuffle(4)`; a distortion passes through.

    >>> from snellen.distort import parse
    >>> parse("occlude(0.3, stripes) | shuffle(4)")
    Chain(stages=(Occlude(area=0.3, fill='stripes', inside=True, law='exact'), Shuffle(grid=4)))
    """
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
    PLUGGED.find(notation.name_in(node))
    distortion: Distortion = notation.build(node, DISTORTIONS, "distortion", _parameter)
    return distortion


def _parameter(node: object) -> object:
    return notation.build(node, LAWS, "law") if isinstance(node, notation.Call) else node


def in_words(distortion: str) -> str:
    """A distortion's text form, or a stored variant, in words; a text that is neither stays as it is."""
    if distortion in VARIANTS:
        return VARIANTS[distortion]
    try:
        return parse(distortion).words()
    except UserError:
        return distortion


def covering(fill: str) -> str:
    """What covers the images of a CutOcclusion finding, by its fill."""
    return masked_by("cutouts") if fill == "cutout" else masked_by("occlude", fill)


def masked_by(masking: str, fill: str = "cutout") -> str:
    """What covers the images of an iOcclusion finding, by its masking, with the fill where that is a paint."""
    kind = DISTORTIONS.get(masking)
    covers = kind.cover_name or masking if kind is not None and issubclass(kind, Covering) else masking
    return covers if fill == "cutout" else f"{fill} {covers}"
