"""What a chat model is asked about one image, by protocol.

`closed` lists the names of the classes, `choice` offers them, or some of them, behind letters in an order of each sample's own,
`free` asks what is shown and names no class.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from string import ascii_uppercase

from snellen.models.chat.options import OptionOffer
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
    """The questions of a protocol about the classes of a vocabulary; `none` offers none of these too, last.

    A choice offers what an `offer` says, all classes without one, in an order drawn from the seed `order`.
    """

    protocol: ChatProtocol
    vocabulary: Vocabulary
    none: bool = False
    order: int = 0
    offer: OptionOffer | None = None

    def about(self, sample: str, truth: int = -1) -> ChatQuestion:
        """The question about a sample, however it is modified: `sample` is a text of its own, `truth` its class, −1 where that is
        not known."""
        names = self.vocabulary.spoken
        if self.protocol == "free":
            return ChatQuestion(FREE)
        if self.protocol == "closed":
            return ChatQuestion(CLOSED.format(", ".join([*names, *([NONE] if self.none else [])])))
        order = self._draws(f"{self.order} {sample}")
        some = range(len(names)) if self.offer is None else self.offer.offered(truth, self._draws(f"offered {sample}"))
        offered = [*sorted(some, key=order.__getitem__), *([len(names)] if self.none else [])]
        marks, called = marks_of(len(offered))
        lines = (f"{mark}. {(*names, NONE)[number]}" for mark, number in zip(marks, offered))
        return ChatQuestion(CHOICE.format("\n".join(lines), called), marks, tuple(offered))

    def _draws(self, of: str) -> list[bytes]:
        """A draw for each class, from a text and its name. Those of options are others than those of their order, else the right
        one would come late; and they are the same in every order."""
        return [hashlib.blake2b(f"{of} {name}".encode()).digest() for name in self.vocabulary.spoken]


def marks_of(count: int) -> tuple[tuple[str, ...], str]:
    """What stands before so many options, and what these marks are called: letters, numbers where these do not reach."""
    if count <= len(ascii_uppercase):
        return tuple(ascii_uppercase[:count]), "letter"
    return tuple(str(number) for number in range(1, count + 1)), "number"
