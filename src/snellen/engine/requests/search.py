"""Searches: questions about a dataset as a whole; which edit is tried next depends on how the model did under earlier ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.distort.distortion import Stimulus

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.distort import View


@dataclass(frozen=True)
class Panel:
    """What a search may show: images uint8 [n, 3, H, W] on the device and what edits may know of them.

    `score` maps edited images and the rows they come from to 1 where the model is right and 0 else, float [m], or for
    segmentation to the share of pixels that are right; it is shown up to `batch` images at once.
    """

    images: Tensor
    view: View
    score: Callable[[Tensor, Tensor], Tensor]
    batch: int


class SearchRequest(Stimulus, ABC):
    """What an audit declares: a frozen dataclass with a text form, in place of a cell's distortion."""

    @property
    @abstractmethod
    def samples(self) -> int:
        """How many images are looked at, chosen by a hash of their ids; 0 for all."""

    @property
    def skipped(self) -> int:
        """How many images, in the order of their hashes, come before those: other searches look at these."""
        return 0

    @property
    @abstractmethod
    def evaluations(self) -> int:
        """How many times all these images are shown at most."""

    @abstractmethod
    def run(
        self, panel: Panel, seed: int, journal: Path | None, report: Callable[[int], None]
    ) -> Sequence[Mapping[str, Any]]:
        """The rows of its table, one per evaluation. `journal` keeps them until the end, so that a stopped search continues;
        `report` hears how many are done."""
