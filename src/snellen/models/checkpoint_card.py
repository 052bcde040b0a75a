"""The card in a checkpoint's header: what its fields may hold."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from snellen.models.card import LARGEST, MOST_CLASSES

Text = Annotated[str, msgspec.Meta(max_length=10_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Side = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
Level = Annotated[float, msgspec.Meta(ge=-1000, le=1000)]
Deviation = Annotated[float, msgspec.Meta(gt=0, le=1000)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class Best(msgspec.Struct):
    """The best epoch of a training."""

    accuracy: Share | None = None
    epoch: Count | None = None


class CheckpointCard(msgspec.Struct):
    """What is checked of a card. All of it may be absent; further fields are kept as they are."""

    arch: Text | None = None
    classes: Annotated[list[Text], msgspec.Meta(min_length=1, max_length=MOST_CLASSES)] | None = None
    size: tuple[Side, Side] | None = None
    mean: tuple[Level, Level, Level] | None = None
    std: tuple[Deviation, Deviation, Deviation] | None = None
    accuracy: Share | None = None
    held_out_accuracy: Share | None = None
    best: Best | None = None
    seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    seed: int | None = None
    epoch: Count | None = None
    recipe: dict[str, Any] | None = None
    data: Text | None = None
    fingerprint: Text | None = None
    holdout: Share | None = None
    history: list[dict[str, Any]] | dict[str, list[Any]] | None = None

    def __post_init__(self) -> None:
        if (self.mean is None) != (self.std is None):
            raise ValueError("expected mean and std together, got only one of them")
