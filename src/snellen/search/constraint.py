"""Content-preserving constraints: whether an edited picture still shows what it showed, image by image."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from snellen import notation
from snellen.distort.law import expect_within
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.search.likeness import edge_agreement, ssim

if TYPE_CHECKING:
    from torch import Tensor

Answering: TypeAlias = "Callable[[Tensor], Tensor | np.ndarray]"  # uint8 [n, 3, H, W] → probabilities [n, classes]
Judgement: TypeAlias = (
    "Callable[[Tensor, Tensor], Tensor | np.ndarray]"  # images before and after → a number or bool each
)


class ContentConstraint(ABC):
    """Compares images with their edited ones; an image meets it where its `similarity` is at least `at_least`."""

    at_least: float
    version: ClassVar[int] = 1  # bumped by hand when similarities change

    @abstractmethod
    def similarity(self, before: Tensor, after: Tensor, rows: Tensor) -> Tensor:
        """float [n]: how alike images uint8 [n, 3, H, W] are before and after; `rows` are their numbers in the dataset."""

    def meets(self, before: Tensor, after: Tensor, rows: Tensor) -> Tensor:
        """bool [n]: which of the images still show what they showed."""
        return self.similarity(before, after, rows) >= self.at_least

    __str__ = notation.text_form


@dataclass(frozen=True)
class Ssim(ContentConstraint):
    """Structural similarity of luminance to the clean image of `at_least`, −1 to 1 (Wang et al. 2004)."""

    at_least: float = 0.8
    version: ClassVar[int] = 2  # the first was the mean over colour channels

    def __post_init__(self) -> None:
        expect_within("at_least", self.at_least, -1, 1)

    def similarity(self, before: Tensor, after: Tensor, rows: Tensor) -> Tensor:
        return ssim(before, after)


@dataclass(frozen=True)
class Edges(ContentConstraint):
    """Correlation of Sobel edges with those of the clean image of `at_least`, −1 to 1; other colours keep their edges."""

    at_least: float = 0.7

    def __post_init__(self) -> None:
        expect_within("at_least", self.at_least, -1, 1)

    def similarity(self, before: Tensor, after: Tensor, rows: Tensor) -> Tensor:
        return edge_agreement(before, after)


@dataclass(unsafe_hash=True)  # not frozen: it remembers answers, which neither equality nor the hash looks at
class SameAnswer(ContentConstraint):
    """A `reference` model must not change its answer: a model of ours, or any callable from uint8 images [n, 3, H, W] to
    probabilities [n, classes]. An image whose answer stays has similarity 1, another 0. Each clean image is asked about once."""

    at_least: float = 0.5
    reference: Any = None
    name: str = "reference"
    _clean: dict[int, int] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not callable(self._ask):
            raise UserError("expected a reference model: a callable from uint8 images to probabilities")

    @property
    def _ask(self) -> Answering:
        return getattr(self.reference, "predict", None) or self.reference

    def similarity(self, before: Tensor, after: Tensor, rows: Tensor) -> Tensor:
        numbers = rows.tolist()
        if not all(number in self._clean for number in numbers):
            self._clean.update(zip(numbers, self._classes(before).tolist()))
        clean = torch.tensor([self._clean[number] for number in numbers], device=after.device)
        return (self._classes(after) == clean).float()

    def _classes(self, images: Tensor) -> Tensor:
        answers = torch.as_tensor(self._ask(images))
        if answers.ndim != 2 or len(answers) != len(images):
            raise UserError(
                f"the reference answered {list(answers.shape)} for {len(images)} images; expected [{len(images)}, classes]"
            )
        return answers.argmax(1).to(images.device)

    def __str__(self) -> str:
        return f"same_answer({self.name})"


@dataclass(frozen=True)
class OwnJudgement(ContentConstraint):
    """Any function of the images before and after (uint8 [n, 3, H, W] each) that gives a number or a bool for each."""

    at_least: float = 0.5
    function: Judgement | None = None
    name: str = "function"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise UserError("expected a function of the images before and after")

    def similarity(self, before: Tensor, after: Tensor, rows: Tensor) -> Tensor:
        assert self.function is not None
        values = torch.as_tensor(self.function(before, after)).to(before.device).float()
        if values.shape != (len(before),):
            raise UserError(f"expected one judgement per image ({len(before)}), got {list(values.shape)}")
        return values

    def __str__(self) -> str:
        return f"own_judgement({self.name}, at_least={notation.format_value(self.at_least)})"


CONSTRAINTS: dict[str, type[ContentConstraint]] = {"ssim": Ssim, "edges": Edges}


def parse_constraint(source: str | ContentConstraint) -> ContentConstraint:
    """The constraint that a text names, such as `ssim(at_least=0.8)`; a constraint passes through.

    >>> from snellen.search import parse_constraint
    >>> parse_constraint("ssim(at_least=0.8)")
    Ssim(at_least=0.8)
    """
    if isinstance(source, ContentConstraint):
        return source
    constraint: ContentConstraint = notation.build(notation.read(source), CONSTRAINTS, "constraint")
    return constraint
