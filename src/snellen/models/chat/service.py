"""Asking a chat endpoint about images: one question each, and what came back as a row of classes and states."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from snellen.errors import UserError
from snellen.hashing import pixel_checksums
from snellen.lazy_torch import torch
from snellen.models.chat.question import ChatQuestion, Questions
from snellen.models.chat.reading import REFUSED, Reading, read_reply
from snellen.models.chat.settings import ChatSettings
from snellen.models.chat.wire import Completion, body_of, is_filtered, read_completion
from snellen.models.remote.client import Declined, UnreadableAnswer
from snellen.models.remote.fleet import Fleet
from snellen.models.text_answers import STATES

if TYPE_CHECKING:
    from torch import Tensor

LEAST = float(np.finfo(np.float32).tiny)


class AskedSamples(NamedTuple):
    """The samples that images are of: their keys, uint64 [n], and classes, int [n], −1 where one is not known."""

    keys: np.ndarray
    truth: np.ndarray


@dataclass
class ChatService:
    """A callable from uint8 images [n, H, W, 3] to rows [n, classes + states] of what was answered.

    `samples` are those that the images are of, row by row, where they are known; options need them. A row holds the probability
    of the class that was named, nan where the service does not tell it, and 0 elsewhere; of a choice also those of the other
    options, none above that of the one that was named.
    """

    fleet: Fleet
    settings: ChatSettings
    questions: Questions
    samples: AskedSamples | None = None

    def about(self, keys: np.ndarray, truth: np.ndarray) -> ChatService:
        """The same service, asked about images of these samples."""
        return replace(self, samples=AskedSamples(keys, truth))

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """The rows of all images; where the service declines some of them, its reason is raised."""
        rows, errors = self.ask(images)
        for declined in errors.values():
            raise declined
        return rows

    def predict(self, pixels: Tensor) -> Tensor:
        """The rows of all images [n, 3, H, W], likewise."""
        return torch.from_numpy(self(pixels.permute(0, 2, 3, 1).contiguous().cpu().numpy()))

    def by_row(self, pixels: Tensor) -> tuple[Tensor, dict[int, str]]:
        """The rows of images [n, 3, H, W], nan throughout for those without an answer, and by row why there is none."""
        rows, errors = self.ask(pixels.permute(0, 2, 3, 1).contiguous().cpu().numpy())
        return torch.from_numpy(rows), {row: f"{type(error).__name__}: {error}" for row, error in errors.items()}

    def ask(self, images: np.ndarray) -> tuple[np.ndarray, dict[int, Declined]]:
        """A row per image, nan throughout where there is no answer, and by row why there is none."""
        images = np.ascontiguousarray(images)
        seed = self.fleet.address.repeat - 1  # repeats are draws of their own
        questions = self._questions_about(images)

        def body(question: ChatQuestion, image: np.ndarray) -> bytes:
            return body_of(self.settings, question.words, self.settings.picture.address(image), seed)

        bodies = (functools.partial(body, question, image) for question, image in zip(questions, images))

        def read(number: int, content: bytes) -> np.ndarray:
            return self._row(_completion(content), questions[number])

        rows = np.full((len(images), len(self.questions.vocabulary.names) + len(STATES)), np.nan, np.float32)
        errors = {}
        for number, outcome in enumerate(self.fleet.post_all(bodies, read)):
            if isinstance(outcome, Declined) and is_filtered(outcome.content):
                rows[number] = self._refused
            elif isinstance(outcome, Declined):
                errors[number] = outcome
            else:
                rows[number] = outcome
        return rows, errors

    def _questions_about(self, images: np.ndarray) -> list[ChatQuestion]:
        """A question for each image: that of its sample, else of its pixels."""
        if self.samples is not None:
            keys, truth = self.samples
            return [
                self.questions.about(f"{key:016x}", own) for key, own in zip(keys.tolist(), truth.tolist(), strict=True)
            ]
        if self.questions.offer is not None:
            raise UserError(
                f"model '{self.settings.model}' chooses among {self.questions.offer.count} options around the right class, and "
                "which that is was not told; audit it alone, or leave #options= out"
            )
        return [self.questions.about(pixels) for pixels in pixel_checksums(images)]

    @property
    def _refused(self) -> np.ndarray:
        """The row of a refusal that came as an error, of which no probability is known."""
        row = np.zeros(len(self.questions.vocabulary.names) + len(STATES), np.float32)
        row[len(self.questions.vocabulary.names) + REFUSED] = np.nan
        return row

    def _row(self, completion: Completion, question: ChatQuestion) -> np.ndarray:
        classes = len(self.questions.vocabulary.names)
        reading = read_reply(completion.reply, question, self.questions.vocabulary)
        row = np.zeros(classes + len(STATES), np.float32)
        sure = completion.probability(reading.start, reading.stop)
        if reading.number <= classes:  # none of these may be an option
            for number, share in _shares(completion, question, reading).items():
                row[number] = min(share, np.nextafter(np.float32(sure), np.float32(0)))
        row[reading.number] = LEAST if sure < LEAST else sure  # 0 would leave the row without an answer
        return row


def _completion(content: bytes) -> Completion:
    """The completion that an answer is; the request of any other is sent again."""
    try:
        return read_completion(content)
    except UserError as error:
        raise UnreadableAnswer(f"answered no chat completion: {error}") from None


def _shares(completion: Completion, question: ChatQuestion, reading: Reading) -> dict[int, float]:
    """By class the probability of the mark before it; nothing where the class was named otherwise than by its mark."""
    shares = completion.alternatives(reading.start, reading.stop)
    return {
        number: shares[mark] for mark, number in zip(question.marks, question.offered) if number >= 0 and mark in shares
    }
