"""Which tuples of edits a search may show: those under which enough images still show what they showed.

And the trade-off: how much a model loses for how recognisable the picture must stay, one search per budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from snellen.distort import View
from snellen.lazy_torch import torch
from snellen.search.constraint import ContentConstraint
from snellen.search.fitness import Edits, Fitness
from snellen.search.identity import identity_of
from snellen.search.image_fitness import distortion_of
from snellen.search.run_search import Search

if TYPE_CHECKING:
    from torch import Tensor


class Feasibility(NamedTuple):
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
    verdicts: dict[Edits, Feasibility] = field(default_factory=dict, repr=False)

    @property
    def fingerprint(self) -> str:
        """A key of the images and of what they are judged by."""
        return identity_of((self.images, self.view, self.constraint, repr(self.needed)))

    def __call__(self, edits: Edits) -> bool:
        return self.share(edits) >= self.needed - 1e-9  # 19 of 20 are 95%

    def share(self, edits: Edits) -> float:
        """The share of images that meet the constraint; nan without images."""
        return self.judge(edits).share

    def similarity(self, edits: Edits) -> float:
        """The mean similarity of the images to the clean ones; nan without images."""
        return self.judge(edits).similarity

    def judge(self, edits: Edits) -> Feasibility:
        """Whether a tuple keeps what images show; each tuple is judged once."""
        if edits not in self.verdicts:
            self.verdicts[edits] = self._judge(edits)
        return self.verdicts[edits]

    def _judge(self, edits: Edits) -> Feasibility:
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
            return Feasibility(float("nan"), float("nan"))
        return Feasibility(float(torch.cat(met).double().mean()), float(torch.cat(similarities).double().mean()))


@dataclass(frozen=True)
class TradeOff:
    """What one search under a constraint came to.

    `budget` is what similarity an image must keep; `accuracy` the model's under the worst feasible `edits`, `similarity` the
    mean of the images under them (both nan where no tuple was feasible); `infeasible` the share of proposals that were not.
    """

    constraint: str
    budget: float
    accuracy: float
    similarity: float
    edits: Edits
    infeasible: float


def trade_off(search: Search, fitness: Fitness, constraints: Sequence[Feasible]) -> list[TradeOff]:
    """The same search under each of the constraints, in their order.

    >>> from snellen.search import Feasible, ImageFitness, RandomSearch, Search, parse_constraint, space, trade_off
    >>> import torch
    >>> from snellen.distort import View
    >>> from snellen.search import ImageFitness
    >>> images = torch.full((4, 3, 16, 16), 200, dtype=torch.uint8)
    >>> def light(shown, rows):
    ...     return shown.float().mean((1, 2, 3)) / 255
    ...
    >>> fitness = ImageFitness(images, light, View.of(list("abcd")))
    >>> constraints = [Feasible(images, View.of(list("abcd")), parse_constraint("ssim(at_least=0.5)"))]
    >>> rows = trade_off(Search(space("mnist"), 1, RandomSearch(tries=5)), fitness, constraints)
    >>> [row.budget for row in rows]
    [0.5]
    """
    return [_under(search, fitness, constraint) for constraint in constraints]


def _under(search: Search, fitness: Fitness, constraint: Feasible) -> TradeOff:
    result = search.run(fitness, constraint=constraint)
    refused = sum(evaluation.value is None for evaluation in result.history)
    return TradeOff(
        str(constraint.constraint),
        constraint.constraint.at_least,
        result.value,
        constraint.similarity(result.best) if result.best else float("nan"),
        result.best,
        refused / result.evaluations,
    )
