"""Which tuples of edits a search may show: those under which enough images still show what they showed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from snellen.distort import View
from snellen.lazy_torch import torch
from snellen.search.constraint import ContentConstraint
from snellen.search.fitness import Edits
from snellen.search.image_fitness import distortion_of

if TYPE_CHECKING:
    from torch import Tensor


class Verdict(NamedTuple):
    """The share of images that meet a constraint under some edits, and their mean similarity to the clean ones."""

    share: float
    similarity: float


@dataclass
class Feasible:
    """The `constraint` of a search on images uint8 [N, 3, H, W]: a tuple is feasible where at least `needed` of them meet it.

    `view` is what the edits may know of the images. Every tuple is judged once, `batch` images at a time, without a call of
    the model.
    """

    images: Tensor
    view: View
    constraint: ContentConstraint
    needed: float = 0.95
    batch: int = 512
    verdicts: dict[Edits, Verdict] = field(default_factory=dict, repr=False)

    def __call__(self, edits: Edits) -> bool:
        return self.share(edits) >= self.needed - 1e-9  # 19 of 20 are 95%

    def share(self, edits: Edits) -> float:
        """The share of images that meet the constraint; nan without images."""
        return self.judge(edits).share

    def similarity(self, edits: Edits) -> float:
        """The mean similarity of the images to the clean ones; nan without images."""
        return self.judge(edits).similarity

    def judge(self, edits: Edits) -> Verdict:
        if edits not in self.verdicts:
            self.verdicts[edits] = self._judge(edits)
        return self.verdicts[edits]

    def _judge(self, edits: Edits) -> Verdict:
        distortion, count = distortion_of(edits), len(self.images)
        similarities, met = [], []
        for start in range(0, count, self.batch):
            stop = min(start + self.batch, count)
            before = self.images[start:stop]
            after = distortion(before, self.view.rows(start, stop))
            rows = torch.arange(start, stop, device=before.device)
            values = self.constraint.similarity(before, after, rows)
            similarities.append(values)
            met.append(values >= self.constraint.at_least)
        if not count:
            return Verdict(float("nan"), float("nan"))
        return Verdict(float(torch.cat(met).double().mean()), float(torch.cat(similarities).double().mean()))
