"""`phantom:train?background_bias=0.8&size=32&n=2000`: a generated world whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping

from snellen.data.dataset import Dataset
from snellen.data.phantom.basic import COLOURS
from snellen.data.phantom.dials import DIALS
from snellen.data.phantom.exports import FORMATS, Exported, export
from snellen.data.phantom.paint import Rendered
from snellen.data.phantom.reading import dialled, read_world
from snellen.data.phantom.recipe import EDGE_CLASS
from snellen.data.phantom.truth import Thing, Truth
from snellen.data.phantom.world import World


def phantom(path: str, options: Mapping[str, str]) -> Dataset:
    """The split `train` (4000 images) or `test` (1000) of the world that the options dial; see Dials and World."""
    return dialled(path, options).dataset()


__all__ = [
    "COLOURS",
    "DIALS",
    "EDGE_CLASS",
    "FORMATS",
    "Exported",
    "Rendered",
    "Thing",
    "Truth",
    "World",
    "export",
    "phantom",
    "read_world",
]
