"""What findings about the alignment of maps with objects tell beyond their values."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from snellen.audits.facts import UNSET, FindingFacts, Number, UnsetType

BoxEdges: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom of a box in pixels of a canvas."""


class MapExample(msgspec.Struct, frozen=True):
    """The map of one sample in a model's first run: its numbers, 0 to 1, the object's boxes and the one that WSOL suggests, on
    a canvas of this height and width."""

    sample: str
    energy_pg: Number
    ehr: Number
    iou: Number
    boxes: tuple[BoxEdges, ...]
    suggested: BoxEdges
    canvas: tuple[int, int]


class MapPair(msgspec.Struct, frozen=True):
    """The same sample under a model and under the one that it is compared with."""

    own: MapExample
    other: MapExample


class WsolPoint(msgspec.Struct, frozen=True):
    """WSOL at one threshold: the mean IoU with its standard error, and the share of images whose box is found."""

    threshold: float
    iou: Number
    share: Number
    standard_error: Number


class FilterCounts(msgspec.Struct, frozen=True):
    """How many images there are, on how many every model is sure, how many have objects of a fitting size, and both."""

    images: int
    confident: int
    sized: int
    chosen: int


class MapReadingFacts(FindingFacts, frozen=True, kw_only=True):
    """How maps were made and read: attribution method and layer, what counts as the object, and the settings of WSOL."""

    method: str
    region: Literal["mask", "box"]
    layer: int | str | None
    threshold: float
    component: str


class AlignmentFacts(MapReadingFacts, frozen=True, kw_only=True):
    """A mean over images: `even` is this measure's own value of even maps, on the images that count; `object_share` the part of
    the image that the object covers; `standard_error` that over images; `empty_maps` and images `without_object` count neither
    way; `filter` is set where a filter chose the images. Older runs have the object's share as `even` of every measure."""

    filter: FilterCounts | UnsetType = UNSET
    even: Number
    empty_maps: int
    without_object: int
    standard_error: Number
    object_share: Number | UnsetType = UNSET


class EnergyFacts(AlignmentFacts, frozen=True, kw_only=True):
    """EnergyPG, with the images that a page shows."""

    examples: tuple[MapExample, ...]


class WsolFacts(AlignmentFacts, frozen=True, kw_only=True):
    """WSOL at the chosen threshold, and at others."""

    sweep: tuple[WsolPoint, ...]


class AlignmentDifferenceFacts(MapReadingFacts, frozen=True, kw_only=True):
    """A difference to the model `other`: p, p after Holm's correction (`corrected_over` which tests), and what would mostly have
    been seen."""

    other: str
    p: Number
    p_corrected: Number
    detectable: Number
    corrected_over: str | UnsetType = UNSET


class GainFacts(MapReadingFacts, frozen=True, kw_only=True):
    """Energy gained over the maps of the model `other`, on the object and in all, per pixel; `even` is the ratio of a gain
    that is spread evenly over each image."""

    other: str
    gain_inside: Number
    gain_whole: Number
    even: Number


class DisagreementFacts(MapReadingFacts, frozen=True, kw_only=True):
    """Where WSOL and EnergyPG prefer different models of two: the strongest cases, and in what share WSOL prefers this one."""

    other: str
    pairs: tuple[MapPair, ...]
    wsol_prefers_it: Number
