"""Models that answer in words: the names of classes that they give, as probabilities; any other word is none of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from snellen.errors import UserError
from snellen.models.model import Model, from_callable

OTHER = "(none of these)"  # the class of an answer that names no class: wrong in every dataset, and counted as outside
STATES = (OTHER, "(refused)", "(no answer)", "(cut off)")  # of a chat model's replies that name no class, likewise


def from_labels(
    function: Callable[[np.ndarray], Any],
    classes: Sequence[str],
    size: int | tuple[int, int] | None = None,
    *,
    name: str | None = None,
    version: str | None = None,
) -> Model:
    """A model of any callable from uint8 arrays [n, H, W, 3] to n names of classes, or None for no answer.

    Its confidence is always 1. A name that is none of `classes` is wrong, and counted as an answer outside the classes.

    >>> from snellen.models import from_labels
    >>> model = from_labels(lambda images: ["cat"] * len(images), ["cat", "dog"], size=32, version="1")
    >>> model.classes[:2]
    ('cat', 'dog')
    """
    name = name or str(getattr(function, "__name__", type(function).__name__))
    known = with_other(classes)

    @functools.wraps(function)
    def read(images: np.ndarray) -> np.ndarray:
        answers = function(images)
        if not is_text(answers) or len(answers) != len(images):
            got = f"{len(answers)} of them" if is_text(answers) else f"{type(answers).__name__} {str(answers)[:60]!r}"
            raise UserError(
                f"model '{name}' answered {got} for {len(images)} images; expected the name of a class for each"
            )
        return probabilities_of(list(answers), known[:-1])

    return from_callable(read, known, size, name=name, version=version)


def is_text(answers: Any) -> bool:
    """Whether a callable answered words, one or None per image."""
    if isinstance(answers, np.ndarray):
        return bool(answers.ndim == 1 and answers.dtype.kind in "UO" and is_text(answers.tolist()))
    return isinstance(answers, list | tuple) and all(answer is None or isinstance(answer, str) for answer in answers)


def with_other(classes: Sequence[str]) -> tuple[str, ...]:
    """The classes of a model that answers in words: those it may name, and none of these."""
    if OTHER in classes:
        raise UserError(f"'{OTHER}' stands for answers that name no class; call the class otherwise")
    return (*map(str, classes), OTHER)


def with_states(classes: Sequence[str]) -> tuple[str, ...]:
    """The classes of a chat model: those that it may name, and the states of replies that name none."""
    if taken := [state for state in STATES if state in classes]:
        raise UserError(f"'{taken[0]}' stands for replies that name no class; call the class otherwise")
    return (*map(str, classes), *STATES)


def without_states(classes: Sequence[str]) -> Sequence[str]:
    """The classes that a model may name: all but the last ones that stand for answers that name none."""
    named = len(classes)
    while named and classes[named - 1] in STATES:
        named -= 1
    return classes[:named]


def probabilities_of(answers: Sequence[str | None], classes: Sequence[str]) -> np.ndarray:
    """float32 [n, classes + 1]: 1 for the class that each answer names, in the last column where it names none.

    Case, spaces, hyphens and underscores do not count; of a class that has several names, with commas between, each does.
    """
    places = _places(classes)
    rows = np.zeros((len(answers), len(classes) + 1), np.float32)
    for row, answer in zip(rows, answers):
        row[len(classes) if answer is None else places.get(plain(answer), len(classes))] = 1
    return rows


def plain(name: str) -> str:
    """A name as it is compared: small letters, single spaces, no full stop at the end."""
    return re.sub(r"[\s_-]+", " ", name.strip().rstrip(".")).lower()


def _places(classes: Sequence[str]) -> Mapping[str, int]:
    """The number of the class that each name means; the first of two alike."""
    places: dict[str, int] = {}
    for number, name in enumerate(classes):
        for synonym in (name, *name.split(",")):
            places.setdefault(plain(synonym), number)
    return places
