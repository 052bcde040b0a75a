"""The text language of distortions: the table of names and `parse`."""

from __future__ import annotations

from typing import Any

from snellen import notation
from snellen.distort.background import Background
from snellen.distort.chain import Chain, Distortion, Nothing, stages_of
from snellen.distort.cover import Occlude, Tiles
from snellen.distort.cutouts import Cutouts
from snellen.distort.fourier import Fourier
from snellen.distort.law import LAWS
from snellen.distort.mix import Mix
from snellen.distort.noise import Noise
from snellen.distort.salient import Salient
from snellen.distort.shuffle import Shuffle
from snellen.distort.soft_shuffle import SoftShuffle

DISTORTIONS: dict[str, type] = {
    "none": Nothing,
    "occlude": Occlude,
    "tiles": Tiles,
    "fourier": Fourier,
    "salient": Salient,
    "cutouts": Cutouts,
    "shuffle": Shuffle,
    "soft_shuffle": SoftShuffle,
    "noise": Noise,
    "mix": Mix,
    "background": Background,
}


def parse(source: str | Distortion) -> Any:
    """The distortion a text names, such as `occlude(0.3, noise) | shuffle(4)`; a distortion passes through."""
    return from_node(notation.read(source)) if isinstance(source, str) else source


def from_node(node: Any) -> Any:
    """The distortion of a node that the text reader made."""
    if isinstance(node, notation.Pipe):
        return Chain(tuple(stage for part in node.parts for stage in stages_of(from_node(part))))
    return notation.build(node, DISTORTIONS, "distortion", _parameter)


def _parameter(node: Any) -> Any:
    return notation.build(node, LAWS, "law") if isinstance(node, notation.Call) else node
