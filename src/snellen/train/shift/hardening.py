"""RDA, RSDA and ESDA during a training: a tuple of edits for each batch, and a search from time to time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from snellen.distort import View, parse
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.search.fitness import Edits, Fitness
from snellen.search.image_fitness import ImageFitness
from snellen.search.run_search import Search, SearchResult
from snellen.search.scores import PixelAccuracy
from snellen.train.device_dataset import ImagesInMemory
from snellen.train.hardening import Lesson, autocast
from snellen.train.mixing import IGNORE
from snellen.train.pgd import answering
from snellen.train.shift.edit_batch import edit_batch, edit_samples
from snellen.train.shift.tuple_set import WorstTuple, pool_of, restore_tuples
from snellen.train.shift.ways import Rda, Searching

if TYPE_CHECKING:
    from torch import Tensor, nn

_BATCH, _SEARCH, _VIEW = 1, 2, 4  # streams of one seed: what a batch draws, what a search draws, what the edits draw
Classify = Callable[["Tensor"], "Tensor"]  # images uint8 [n, 3, H, W] → the most likely class of each, or of each pixel
PIXELS = 512 * 32 * 32  # in one pass


@dataclass
class ShiftHardening:
    """The tuples of one run. All it draws depends on the seed and the number of the update or search alone.

    `tuples` are those that searches appended, `stored` the ones a run begins with; `grow` is called with them when they change.
    """

    way: Rda
    lesson: Lesson
    stored: Sequence[WorstTuple] = ()
    grow: Callable[[Sequence[WorstTuple]], None] = lambda tuples: None
    tuples: list[WorstTuple] = field(init=False)

    def __post_init__(self) -> None:
        self.space = self.way.space()
        self.tuples = list(self.stored)
        self._check_size()
        self._pool()

    def begin(self) -> None:
        """Hand over the tuples that a run begins with, or goes on with."""
        if isinstance(self.way, Searching):
            self.grow(self.tuples)

    def change(self, step: int, rows: np.ndarray, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The images uint8 [B, 3, H, W] of a batch edited, and their labels; `rows` are their places in the data."""
        random = np.random.default_rng([self.lesson.seed, step, _BATCH])
        view = self._view(rows, step, images.device)
        parts = len(images) if self.way.unit == "sample" else self.way.parts
        tuples = [self._draw(random) for _ in range(parts)]
        if parts == 1:
            return edit_batch(tuples[0], images, labels, view)
        return edit_samples([tuples[row % parts] for row in range(len(images))], images, labels, view)

    def after(self, step: int, network: nn.Module) -> None:
        """Search, where it is time after this update, and append what was found."""
        way, lesson = self.way, self.lesson
        if not isinstance(way, Searching):
            return
        number, rest = divmod(step + 1, way.period(lesson.per_epoch))
        if rest or number > way.searches_in(lesson.steps, lesson.per_epoch):
            return
        best, value = lesson.team.from_leader(lambda: self._worst(number, step, network))
        epoch = (step + 1) / lesson.per_epoch
        self.tuples.append(WorstTuple(len(self.tuples) + 1, step + 1, round(epoch, 4), tuple(best), value))
        self._pool()
        self.grow(self.tuples)

    def search(self, number: int, fitness: Fitness) -> SearchResult:
        """The search of a number."""
        assert isinstance(self.way, Searching)
        seed = _word(self.lesson.seed, number, _SEARCH)
        return Search(self.space, self.way.length, self.way.algorithm(), seed).run(fitness)

    def fitness(self, network: nn.Module) -> Fitness:
        """The network's accuracy on the search images under a tuple; it must be in `eval`."""
        assert isinstance(self.way, Searching)
        shown, normalise = self.lesson.shown, self.lesson.normalise
        rows = search_rows(len(shown.images), self.way.images, self.lesson.seed)
        at = torch.from_numpy(rows).to(shown.images.device)
        some = ImagesInMemory(shown.images[at], shown.labels[at])

        def classify(images: Tensor) -> Tensor:
            with autocast(images.device):
                answer: Tensor = network(normalise(images)).argmax(1)
            return answer

        return network_fitness(classify, some, self._view(rows, 0, at.device), self.lesson.batch_size)

    def state(self) -> Any:
        """What a stopped run needs to go on: the tuples."""
        return [worst.to_json() for worst in self.tuples]

    def restore(self, state: Any) -> None:
        """Go on from a saved state."""
        self.tuples = restore_tuples(state, "the tuples of this training")
        self._pool()

    def facts(self) -> dict[str, Any]:
        """For the card: each tuple of the set, in order."""
        return {"transformations": self.state()} if isinstance(self.way, Searching) else {}

    def _worst(self, number: int, step: int, network: nn.Module) -> tuple[Edits, float]:
        self.lesson.settle(network, step)
        with answering(network), torch.no_grad():
            result = self.search(number, self.fitness(network))
        return result.best, result.value

    def _draw(self, random: np.random.Generator) -> Edits:
        if isinstance(self.way, Searching):
            return self.pool[int(random.integers(len(self.pool)))]
        return self.space.texts(self.space.draw(random, self.way.length, self.way.genes))

    def _view(self, rows: np.ndarray, step: int, device: torch.device) -> View:
        keys, seed = rows.astype(np.uint64), _word(self.lesson.seed, step, _VIEW)
        return View(keys, seed, device=device, mean=self.lesson.mean)

    def _pool(self) -> None:
        duplicates = self.way.duplicates if isinstance(self.way, Searching) else "keep"
        self.pool = pool_of(self.tuples, duplicates)

    def _check_size(self) -> None:
        height, width = self.lesson.shown.size
        texts = [level for transformation in self.space.transformations for level in transformation.levels]
        for text in dict.fromkeys([*texts, *(text for worst in self.tuples for text in worst.edits)]):
            try:
                parse(text).check_size(height, width)
            except ValueError as error:
                raise UserError(f"{text} does not suit images of {height}x{width} pixels: {error}") from None


def _word(seed: int, number: int, stream: int) -> int:
    """A seed of its own for a number in a stream."""
    return int(np.random.SeedSequence([seed, number, stream]).generate_state(1)[0])


def search_rows(count: int, wanted: int, seed: int) -> np.ndarray:
    """The rows of the images that searches show: `wanted` of `count`, drawn from the seed, in order."""
    return np.sort(np.random.default_rng([seed, count, 3]).permutation(count)[:wanted])


def network_fitness(classify: Classify, memory: ImagesInMemory, view: View, least: int) -> ImageFitness:
    """Accuracy on images, or on those of their pixels that count. A pass shows at least `least` images, as an update does."""
    height, width = memory.size
    batch = max(least, PIXELS // (height * width))
    if memory.labels.ndim > 1:
        numbers = torch.where(memory.labels == IGNORE, 0, memory.labels + 1)
        score = PixelAccuracy(classify, numbers, int(numbers.max()))
        return ImageFitness(memory.images, score, view, batch, weights=score.weights)
    labels = memory.labels
    return ImageFitness(memory.images, lambda images, rows: (classify(images) == labels[rows]).float(), view, batch)
