"""Trials: questions whose next image depends on earlier answers, packed side by side into full batches.

A trial is a generator: it yields a question (anything with a length, its number of images), is sent the `Reply`, and returns
its columns when it is done. What it asks may depend on its own replies and on the rows of earlier rounds, never on the trials
beside it; so batch size, order and interruptions change how many images are asked, not what comes out.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from snellen.distort import Saliency
from snellen.distort.distortion import Stimulus

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.distort import Donors, View


class HostCopy:
    """The probabilities of a whole batch, copied to the host once, when the first trial wants them."""

    def __init__(self, probabilities: Tensor) -> None:
        self.probabilities = probabilities

    @functools.cached_property
    def array(self) -> np.ndarray:
        return self.probabilities.cpu().numpy()


class Reply(NamedTuple):
    """The model's answers to the n images of a question, and how many images the next one may have.

    `probabilities` are [n, outputs] of the model's own classes, on its device; `pred` (the data's class, −1 outside), `raw`
    and `confidence` are NumPy [n]. `room` is what is left of the batch that is being filled. `batch` is the copy that the
    replies of one batch share, `start` where this one begins in it.
    """

    probabilities: Tensor
    pred: np.ndarray
    raw: np.ndarray
    confidence: np.ndarray
    room: int = 0
    batch: HostCopy | None = None
    start: int = 0

    def rows(self, start: int, stop: int) -> Reply:
        """The reply to some of the images."""
        part = slice(start, stop)
        batch = self.batch or HostCopy(self.probabilities)
        return Reply(
            self.probabilities[part],
            self.pred[part],
            self.raw[part],
            self.confidence[part],
            0,
            batch,
            self.start + start,
        )

    def on_host(self) -> np.ndarray:
        """float [n, outputs]: the probabilities as NumPy; the device is waited for once per batch, however many trials ask."""
        batch = self.batch or HostCopy(self.probabilities)
        return batch.array[self.start : self.start + len(self.pred)]


Columns = Mapping[str, Any]  # of one trial: a number, a word or an array by name
TrialSteps = Generator[Any, Reply, Columns]


@dataclass(frozen=True)
class Stage:
    """The samples of one round and what may be known of them: images uint8 [n, 3, H, W] on the device, their view (labels,
    masks, boxes, donors), their positions in the listing and the labels [N] of all of it. `earlier` are the columns of the
    trials of earlier rounds by position, without those that failed."""

    images: Tensor
    view: View
    positions: np.ndarray
    labels: np.ndarray
    earlier: Mapping[int, Columns]


class Round(Protocol):
    """Trials that run side by side: `start` gives that of a row of the stage, whose first question has `room` images at most;
    `show` makes the images uint8 [n, 3, H, W] of many questions at once, in their order."""

    def start(self, row: int, room: int) -> TrialSteps: ...
    def show(self, questions: Sequence[Any]) -> Tensor: ...


class Trial(Stimulus, ABC):
    """What an audit declares: a frozen dataclass with a text form, in place of a cell's distortion."""

    @abstractmethod
    def rounds(self, samples: int) -> list[range]:
        """The listing divided, for trials that learn from earlier rows; it must not depend on batch or machine."""

    @abstractmethod
    def begin(self, stage: Stage) -> Round:
        """The trials of one round."""

    @abstractmethod
    def most(self, samples: int, donors: int) -> int:
        """How many images are asked at most."""

    @property
    def saliency(self) -> Saliency | None:
        """Which maps of the asking model its view must have; with them it `needs` saliency."""
        return None

    @property
    def speaks_of_things(self) -> bool:
        """Whether its columns speak of things, such as backgrounds, whose table is kept once."""
        return False

    def things(self, donors: Donors | None) -> dict[str, list[Any]]:
        """The table of the things, by column."""
        return {}

    def pictures(self, donors: Donors | None, places: Sequence[int]) -> Tensor:
        """uint8 [n, 3, H, W]: images of some things, for a report."""
        raise ValueError(f"{self} has no things to picture")


class FinishedTrial(NamedTuple):
    """A trial that is over: its row of the stage, its columns (none where the model failed), how many images it asked about, and
    why it failed, if it did."""

    row: int
    columns: Columns
    images: int
    error: str = ""


@dataclass
class _Open:
    """A trial on its way; `reply` waits until there is room for the next question."""

    row: int
    steps: TrialSteps | None = None
    reply: Reply | None = None
    images: int = 0


def play_round(
    sitting: Round,
    rows: Iterable[int],
    ask: Callable[[Tensor, np.ndarray], tuple[Reply, Mapping[int, str]]],
    batch: Callable[[], int],
) -> Iterator[FinishedTrial]:
    """Run the trials of some rows, each yielded as it ends.

    `ask` maps images and the rows that they are of to the reply and to the errors of those that the model failed on; `batch` is
    the number of images to ask at once. The oldest trials come first, and new ones begin where these leave room: so batches are
    full as long as any trial has a question, and trials end one after the other instead of all at last.
    """
    waiting = deque(_Open(row) for row in rows)
    while waiting:
        room = batch()
        asking: list[tuple[_Open, Any]] = []
        while room > 0 and waiting:
            trial = waiting.popleft()
            try:
                question = _next(trial, sitting, room)
            except StopIteration as end:
                yield FinishedTrial(trial.row, end.value, trial.images)
                continue
            asking.append((trial, question))
            room -= len(question)
        if not asking:
            continue
        of_rows = np.repeat([trial.row for trial, _ in asking], [len(question) for _, question in asking])
        reply, errors = ask(sitting.show([question for _, question in asking]), of_rows)
        reply = reply._replace(batch=HostCopy(reply.probabilities))
        unfinished = []
        start = 0
        for trial, question in asking:
            stop = start + len(question)
            trial.images += len(question)
            error = next((errors[row] for row in range(start, stop) if row in errors), "") if errors else ""
            if error:
                yield FinishedTrial(trial.row, {}, trial.images, error)
            else:
                trial.reply = reply.rows(start, stop)
                unfinished.append(trial)
            start = stop
        waiting.extendleft(reversed(unfinished))


def _next(trial: _Open, sitting: Round, room: int) -> Any:
    """The next question of a trial; StopIteration carries its columns."""
    if trial.steps is None:
        trial.steps = sitting.start(trial.row, room)
        return next(trial.steps)
    assert trial.reply is not None  # a trial is put back only with the reply to its question
    return trial.steps.send(trial.reply._replace(room=room))
