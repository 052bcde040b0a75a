"""Deletion curves: what becomes of a model's answer while the tiles of an image are hidden one after the other.

One set of images gives both directions: what is left after the k least relevant tiles of n are deleted is the very image
that has the n − k most relevant ones inserted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from snellen.distort import Saliency
from snellen.distort.blur import blurred
from snellen.distort.draws import on_device
from snellen.distort.fills import paint
from snellen.distort.law import expect_within
from snellen.engine.requests.trial import Columns, Reply, Stage, Trial, TrialSteps
from snellen.lazy_torch import torch
from snellen.notation import text_form
from snellen.search.step_sampling import Budget, Sample, roughness, states_at, systematic
from snellen.search.tiles import TileGrid, random_ranks, ranks_by_relevance

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.distort import View

Filling = Literal["image_mean", "zero", "blur", "dataset_mean"]
NEEDS: dict[str, frozenset[str]] = {"zero": frozenset({"mean"}), "dataset_mean": frozenset({"donors"})}
BLUR = 10 / 224  # sigma of the blur as a share of the shorter side
FIRST_ROUND, LARGEST_ROUND = 64, 512  # images; small ones first, so that the roughness of the curves is learnt early
PILOTS, RAREST = 8, 32  # images whose first curve is known wholly: so many, or one in so many where there are more


@dataclass(frozen=True)
class Deletion(Trial):
    """Hide the tiles of each image in some orders, and follow the probability of the class that the model answers to the whole.

    Tiles are `tile` pixels a side, or `grid` × `grid` of them. A hidden one has the `fill`: the image's mean colour, `zero`
    (the model's normalisation mean), the blurred image, or the mean colour of the donors (`dataset_mean`: the test data where
    no donors are given). A curve has `points` values. With `evaluation=full` all are asked; `adaptive` asks as few as the mean
    area over the images needs to err by no more than `error` points of 100 (90% confidence, both orders together).

    Columns: `top` (the class), `tiles` (how many there are), `first` and `last` (the class's probability in the whole and in
    the hidden image), and of each known point between them `order`, `point` and `score`.
    """

    tile: int = 7
    grid: int = 0
    fill: Filling = "image_mean"
    points: int = 100
    evaluation: Literal["adaptive", "full"] = "adaptive"
    error: float = 0.2
    version: ClassVar[int] = 1
    own_data: ClassVar[bool] = True
    share: ClassVar[float]  # of the squared error that these orders may have
    prior: ClassVar[float]  # roughness in normalised points that is assumed at first: between large and small networks

    __str__ = text_form

    def __post_init__(self) -> None:
        expect_within("tile", self.tile, 1, 100_000)
        expect_within("grid", self.grid, 0, 100_000)
        expect_within("points", self.points, 3, 10_000)
        expect_within("error", self.error, 0.001, 100)

    @property
    @abstractmethod
    def orders(self) -> int:
        """How many orders each image is asked in."""

    @abstractmethod
    def ranks(self, tiles: TileGrid, stage: Stage) -> Tensor:
        """int32 [B, orders, tiles]: the place of each tile in each order, in which it is deleted."""

    @property
    def needs(self) -> frozenset[str]:
        return NEEDS.get(self.fill, frozenset())

    def rounds(self, samples: int) -> list[range]:
        """Small ones first where later ones learn from them."""
        size, start, rounds = FIRST_ROUND if self.evaluation == "adaptive" else LARGEST_ROUND, 0, []
        while start < samples:
            rounds.append(range(start, min(start + size, samples)))
            start, size = start + size, min(2 * size, LARGEST_ROUND)
        return rounds

    def most(self, samples: int, donors: int) -> int:
        """How many images are asked at most; of an adaptive evaluation, what it expects before it knows any curve."""
        inner = self.points - 2
        count = inner if self.evaluation == "full" else self.budget(samples).count(inner)
        return samples * (2 + self.orders * count)

    def budget(self, samples: int) -> Budget:
        return Budget(samples, self.error * self.share**0.5, self.orders, self.prior)

    def begin(self, stage: Stage) -> DeletionRound:
        return DeletionRound(self, stage)


@dataclass(frozen=True)
class OrderedDeletion(Deletion):
    """Delete tiles by their relevance to the asking model, the mean of its own map in each: the least relevant first (`lerf`)
    or the most relevant (`morf`). Tiles of equal relevance come in a random order."""

    order: Literal["lerf", "morf"] = "lerf"
    method: str = "gradcam"
    layer: int | str | None = None
    orders: ClassVar[int] = 1
    share: ClassVar[float] = 0.4
    prior: ClassVar[float] = 30.0

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | {"saliency"}

    @property
    def saliency(self) -> Saliency:
        return Saliency(self.method, self.layer)

    def ranks(self, tiles: TileGrid, stage: Stage) -> Tensor:
        assert stage.view.saliency is not None
        least_first = ranks_by_relevance(tiles.means(stage.view.saliency), stage.view.draw)
        return (least_first if self.order == "lerf" else len(tiles) - 1 - least_first)[:, None]


@dataclass(frozen=True)
class RandomDeletion(Deletion):
    """Delete tiles in `repeats` random orders per image, the same for every model and every attribution method."""

    repeats: int = 5
    share: ClassVar[float] = 0.6
    prior: ClassVar[float] = 24.0

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_within("repeats", self.repeats, 1, 255)

    @property
    def orders(self) -> int:
        return self.repeats

    def ranks(self, tiles: TileGrid, stage: Stage) -> Tensor:
        return random_ranks(len(tiles), self.repeats, stage.view.draw)


@dataclass(frozen=True)
class DegradedImage:
    """A question: one image with the first `states` tiles of some orders hidden; int [n] each."""

    row: int
    order: np.ndarray
    state: np.ndarray

    def __len__(self) -> int:
        return len(self.state)


class DeletionRound:
    """One round of deletion curves."""

    def __init__(self, trial: Deletion, stage: Stage) -> None:
        self.trial, self.images, self.positions = trial, stage.images, stage.positions
        height, width = stage.images.shape[2:]
        self.tiles = TileGrid.of(height, width, trial.tile, trial.grid)
        self.states = states_at(trial.points, len(self.tiles))
        self.ranks = trial.ranks(self.tiles, stage)
        self.fills = _fills(trial.fill, stage.images, stage.view)
        self.starts = stage.view.draw.uniforms("start", trial.orders)
        self.samples = len(stage.labels)
        self.count = self._count(stage.earlier)

    def start(self, row: int, room: int) -> TrialSteps:
        order, point = self._points(row)
        state, tiles = self.states[point], len(self.tiles)
        shared = (state == 0) | (state == tiles)  # the same image in every order
        distinct, place = np.unique(np.where(shared, 0, order) * (tiles + 1) + state, return_inverse=True)
        scores, top = yield from self._ask(row, *np.divmod(distinct, tiles + 1), room)
        values = scores[place].astype(np.float32)
        inner = slice(1, -1)
        return {
            "top": top,
            "tiles": tiles,
            "first": float(values[0]),
            "last": float(values[-1]),
            "order": order[inner].astype(np.uint8),
            "point": point[inner].astype(np.int16),
            "score": values[inner],
        }

    def show(self, questions: Sequence[DegradedImage]) -> Tensor:
        device = self.images.device
        rows = np.repeat([question.row for question in questions], [len(question) for question in questions])
        row, order, state = (
            on_device(values, device)
            for values in (
                rows,
                *(np.concatenate([getattr(question, name) for question in questions]) for name in ("order", "state")),
            )
        )
        hidden = self.tiles.spread((self.ranks[row, order] < state[:, None]).to(torch.uint8).neg_())
        images = self.images[row]
        return (images ^ self.fills[row]).bitwise_and_(hidden[:, None]).bitwise_xor_(images)

    def _points(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """The orders and points of one image: the whole image first, then the sample of each order, the hidden one last."""
        trial, inner = self.trial, self.trial.points - 2
        stride = min(max(self.samples // PILOTS, 1), RAREST)
        pilot = self.positions[row] % stride == stride // 2
        samples = [
            systematic(inner, inner if pilot and number == 0 else self.count, start)
            for number, start in enumerate(self.starts[row])
        ]
        order = np.repeat(np.arange(trial.orders), [len(sample) for sample in samples])
        return np.concatenate([[0], order, [0]]), np.concatenate([[0], *samples, [trial.points - 1]])

    def _ask(
        self, row: int, order: np.ndarray, state: np.ndarray, room: int
    ) -> Generator[DegradedImage, Reply, tuple[np.ndarray, int]]:
        """The probability of the whole image's class in each state, and that class; as many at once as there is room for."""
        parts: list[np.ndarray] = []
        top, start = -1, 0
        while start < len(state):
            stop = start + max(room, 1)
            reply = yield DegradedImage(row, order[start:stop], state[start:stop])
            probabilities = reply.on_host()
            if start == 0:
                top = int(probabilities[0].argmax())  # the first is the whole image
            parts.append(probabilities[:, top])
            start, room = stop, reply.room
        return np.concatenate(parts), top

    def _count(self, earlier: Mapping[int, Columns]) -> int:
        """How many inner points of each curve are asked, by what earlier rounds have shown of the curves."""
        trial, inner = self.trial, self.trial.points - 2
        if trial.evaluation == "full":
            return inner
        rows = list(earlier.values())
        span = float(np.mean([row["first"] - row["last"] for row in rows])) if rows else 1.0
        rough = [
            100 * roughness(sample.curve(trial.points)) / max(span, 0.05)
            for sample in whole_samples(rows, trial.points)
        ]
        counts = [len(samples_of(row, trial.orders)[-1].point) for row in rows]
        return trial.budget(self.samples).count(inner, rough, counts)


def _fills(fill: Filling, images: Tensor, view: View) -> Tensor:
    """uint8 [B, 3, 1, 1] or [B, 3, H, W]: what hidden pixels of each image become."""
    if fill == "blur":
        return blurred(images, round(32 * BLUR * min(images.shape[2:])) / 32, "mirror")
    if fill == "dataset_mean":
        assert view.donors is not None
        pixels = view.donors.images.flatten(2).to(torch.float64).mean((0, 2))
        return pixels.round().to(torch.uint8).view(1, 3, 1, 1).expand(len(images), -1, -1, -1)
    return paint("mean" if fill == "zero" else fill, images, view).expand(len(images), -1, -1, -1)


def full_passes(points: int, tiles: int, orders: int) -> int:
    """How many images a full evaluation asks about one image: all different states, the whole and the hidden image once."""
    return 2 + orders * (len(np.unique(states_at(points, tiles))) - 2)


def samples_of(row: Mapping[str, Any], orders: int) -> list[Sample]:
    """What is known of each curve of an image, from its row of the trials' table."""
    order = np.asarray(row["order"])
    return [
        Sample(
            row["first"],
            row["last"],
            np.asarray(row["point"])[order == number],
            np.asarray(row["score"])[order == number],
        )
        for number in range(orders)
    ]


def whole_samples(rows: Sequence[Mapping[str, Any]], points: int) -> list[Sample]:
    """The first curves that are wholly known, those of the pilots."""
    return [sample for row in rows for sample in samples_of(row, 1) if sample.is_whole(points)]
