"""What a chat model is asked about one image, by protocol.

`closed` lists the names of the classes, `choice` offers them behind letters in an order of each image's own, `free` asks what is
shown and names no class.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from string import ascii_uppercase

from snellen.models.chat.settings import ChatProtocol
from snellen.models.chat.vocabulary import Vocabulary

NONE = "none of these"
CLOSED = "What is the main object in this image? Answer with exactly one of these names and nothing else: {}."
CHOICE = "What is the main object in this image?\n{}\nAnswer with the {} of one option and nothing else."
FREE = "What is the main object in this image? Answer with its name and nothing else."


@dataclass(frozen=True)
class ChatQuestion:
    """The words of a question. Of a choice, `marks` are what stands before the options, and `offered` the class behind each; the
    number of classes stands for none of these."""

    words: str
    marks: tuple[str, ...] = ()
    offered: tuple[int, ...] = ()


@dataclass(frozen=True)
class Questions:
    """The questions of a protocol about the classes of a vocabulary; `none` offers none of these too, last."""

    protocol: ChatProtocol
    vocabulary: Vocabulary
    none: bool = False
    order: int = 0

    def about(self, pixels: str) -> ChatQuestion:
        """The question about the image whose pixels have this checksum."""
        names = self.vocabulary.spoken
        if self.protocol == "free":
            return ChatQuestion(FREE)
        if self.protocol == "closed":
            return ChatQuestion(CLOSED.format(", ".join([*names, *([NONE] if self.none else [])])))
        offered = [*self._ordered(pixels), *([len(names)] if self.none else [])]
        marks, called = marks_of(len(offered))
        lines = (f"{mark}. {(*names, NONE)[number]}" for mark, number in zip(marks, offered))
        return ChatQuestion(CHOICE.format("\n".join(lines), called), marks, tuple(offered))

    def _ordered(self, pixels: str) -> list[int]:
        """The classes in an order drawn from the seed of orders and the pixels: the same image gets the same one again."""
        draws = [hashlib.blake2b(f"{self.order} {pixels} {name}".encode()).digest() for name in self.vocabulary.spoken]
        return sorted(range(len(draws)), key=draws.__getitem__)


def marks_of(count: int) -> tuple[tuple[str, ...], str]:
    """What stands before so many options, and what these marks are called: letters, numbers where these do not reach."""
    if count <= len(ascii_uppercase):
        return tuple(ascii_uppercase[:count]), "letter"
    return tuple(str(number) for number in range(1, count + 1)), "number"
