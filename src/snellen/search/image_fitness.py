"""The fitness of edits on images: their mean score, with images of several tuples in one batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np

from snellen.distort import Distortion, View, parse
from snellen.distort.chain import Chain, Nothing, moved, stages_of
from snellen.distort.distortion import Moving
from snellen.distort.photometric.programs import programs_for
from snellen.lazy_torch import torch
from snellen.search.fitness import Edits
from snellen.search.identity import identity_of

if TYPE_CHECKING:
    from torch import Tensor

Score: TypeAlias = (
    "Callable[[Tensor, Tensor], Tensor]"  # images uint8 [n, 3, H, W] and their rows [n] → float [n] in 0 … 1
)
Move: TypeAlias = "Callable[[Tensor], Tensor]"  # maps [n, H, W], one per image → moved as the edits moved the images


@runtime_checkable
class ScoreOfPlaces(Protocol):
    """A score that depends on where things are in the images: it also gets `move`, None where the edits move nothing."""

    def __call__(self, images: Tensor, rows: Tensor, /) -> Tensor: ...
    def in_place(self, images: Tensor, rows: Tensor, move: Move | None, /) -> Tensor: ...


@dataclass
class ImageFitness:
    """The mean score of images uint8 [N, 3, H, W] under a tuple of edits; `view` is what the edits may know of them.

    `score` maps edited images and the rows they come from to a number from 0 to 1 each, such as right or wrong. Every call of
    it gets up to `batch` images, of several tuples where one has fewer, so that a device stays busy; from a GPU the means are
    read back once for all tuples. `images_shown` counts what `score` was shown. `weights` [N] weigh the images in the mean.
    `notices` are what a user should read of how it was made.
    """

    images: Tensor
    score: Score
    view: View
    batch: int = 512
    images_shown: int = 0
    weights: Tensor | None = None
    notices: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A key of the images, of how they are scored and of what the edits may know of them."""
        return identity_of((self.images, self.score, self.weights, self.view))

    def __call__(self, edits: Edits) -> float:
        return self.many([edits])[0]

    def many(self, tuples: Sequence[Edits], samples: np.ndarray | None = None) -> list[float]:
        """The fitness of each tuple, on all images or on those of some rows."""
        rows = np.arange(len(self.images)) if samples is None else np.asarray(samples)
        totals = self._zeros(len(tuples))
        for _ in self._add_up(tuples, rows, totals):
            pass
        return self._means(totals, rows)

    def each(self, tuples: Sequence[Edits]) -> Iterator[float]:
        """The fitness of each tuple on all images as soon as it is known; on a GPU, which should not wait, when all are or
        when one raises."""
        rows, totals = np.arange(len(self.images)), self._zeros(len(tuples))
        first = complete = 0
        try:
            for complete in self._add_up(tuples, rows, totals):
                if self.images.device.type == "cpu":
                    yield from self._means(totals[first:complete], rows)
                    first = complete
        except Exception:
            yield from self._means(totals[first:complete], rows)
            raise
        yield from self._means(totals[first:], rows)

    def _zeros(self, count: int) -> Tensor:
        return torch.zeros(count, dtype=torch.float64, device=self.images.device)

    def _add_up(self, tuples: Sequence[Edits], rows: np.ndarray, totals: Tensor) -> Iterator[int]:
        """Add the scores of images under each tuple to the totals, one batch a turn; how many tuples are complete."""
        programs = programs_for([distortion_of(edits) for edits in tuples], self.images)
        shown = 0
        for parts in self._batches(len(tuples), rows):
            places = self._on_device(np.concatenate([part for _, part in parts]))
            owners = self._on_device(np.concatenate([np.full(len(part), number) for number, part in parts]))
            if programs is None:
                pixels = _joined([self.edit(tuples[number], part) for number, part in parts])
            else:
                pixels = programs(self.images, places, owners)
            scores = self._scores(tuples, parts, pixels, places).double()
            totals.index_add_(0, owners, scores if self.weights is None else scores * self.weights[places])
            self.images_shown += len(pixels)
            shown += len(pixels)
            yield shown // len(rows)

    def _means(self, totals: Tensor, rows: np.ndarray) -> list[float]:
        if self.weights is None:
            return (totals / len(rows)).tolist()
        whole = self.weights[self._on_device(rows)].sum(dtype=torch.float64)
        return torch.where(whole > 0, totals / whole, 0.0).tolist()  # 0 where no image has a weight

    def _scores(
        self, tuples: Sequence[Edits], parts: list[tuple[int, np.ndarray]], pixels: Tensor, places: Tensor
    ) -> Tensor:
        """The score of each image of a batch."""
        if not isinstance(self.score, ScoreOfPlaces):
            return self.score(pixels, places)

        def move(maps: Tensor) -> Tensor:
            pieces = maps.split([len(rows) for _, rows in parts])
            return _joined([self.move(tuples[number], rows, piece) for (number, rows), piece in zip(parts, pieces)])

        moving = any(moves(tuples[number]) for number, _ in parts)
        return self.score.in_place(pixels, places, move if moving else None)

    def _batches(self, tuples: int, rows: np.ndarray) -> Iterator[list[tuple[int, np.ndarray]]]:
        """Parts of one batch each: the number of a tuple, and rows of images."""
        parts: list[tuple[int, np.ndarray]] = []
        room = self.batch
        for number in range(tuples):
            start = 0
            while start < len(rows):
                some = rows[start : start + room]
                parts.append((number, some))
                start, room = start + len(some), room - len(some)
                if room == 0:
                    yield parts
                    parts, room = [], self.batch
        if parts:
            yield parts

    def edit(self, edits: Edits, rows: np.ndarray) -> Tensor:
        """The images of some rows under the edits."""
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():  # a slice copies nothing
            return distortion_of(edits)(self.images[rows[0] : rows[-1] + 1], self.view.rows(rows[0], rows[-1] + 1))
        return distortion_of(edits)(self.images[self._on_device(rows)], self.view.at(rows))

    def move(self, edits: Edits, rows: np.ndarray, maps: Tensor) -> Tensor:
        """Maps [n, H, W] of some rows, such as masks and label maps, moved as the edits move the images."""
        return moved(distortion_of(edits), maps, self.view.at(rows))

    def _on_device(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values, np.int64)).to(self.images.device, non_blocking=True)


def distortion_of(edits: Edits) -> Distortion:
    """The edits as one distortion, from left to right."""
    stages = tuple(map(_parsed, edits))
    return Chain(stages) if len(stages) > 1 else stages[0] if stages else Nothing()


def moves(edits: Edits) -> bool:
    """Whether some edit moves pixels, so that what is known of places must move too."""
    return any(isinstance(stage, Moving) for stage in stages_of(distortion_of(edits)))


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> Distortion:
    return parse(text)


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)
