"""Models that follow MAITE's protocol for image classification, as they are; the package `maite` is not needed.

Such a model is called with a sequence of images [3, H, W] and answers a sequence of pseudo-probabilities [classes]; its
`metadata` is a dictionary with `id` and, where it names its classes, `index2label`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from snellen.data.maite import names_of
from snellen.errors import UserError
from snellen.models.model import Model, from_callable


def is_maite_model(thing: Any) -> bool:
    """Whether a thing is called as such a model and describes itself as one."""
    metadata = getattr(thing, "metadata", None)
    return callable(thing) and not isinstance(thing, type) and isinstance(metadata, Mapping) and "id" in metadata


def from_maite(
    model: Any, size: int | tuple[int, int] | None = None, *, floats: bool = False, name: str | None = None
) -> Model:
    """The model of one that follows MAITE's protocol. It gets a list of uint8 arrays [3, H, W], or with `floats` of float32
    in 0…1, at the data's own size unless `size` is given.

    Its source code and its answers to 16 probe images stand for its weights.

    >>> import numpy as np
    >>> from snellen.models import from_maite
    >>> class Brightness:
    ...     metadata = {"id": "light", "index2label": {0: "night", 1: "day"}}
    ...     def __call__(self, batch):
    ...         light = [image.mean() / 255 for image in batch]
    ...         return [np.array([1 - value, value]) for value in light]
    ...
    >>> from_maite(Brightness(), size=32).classes
    ('night', 'day')
    """
    if not is_maite_model(model):
        raise UserError(f"expected a callable with a dictionary 'metadata' that has 'id', got {type(model).__name__}")
    name = name or str(model.metadata["id"])

    def answer(images: np.ndarray) -> np.ndarray:
        batch = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
        return _rows(model(list(batch.astype(np.float32) / 255 if floats else batch)), len(images), name)

    answer.__wrapped__ = type(model)  # type: ignore[attr-defined]  # whose source code stands for it
    ours = from_callable(answer, names_of(model.metadata, name), size, name=name)
    return ours if floats else replace(ours, card=replace(ours.card, notices=(_notice(name),)))


def _rows(answers: Any, count: int, name: str) -> np.ndarray:
    """float [count, classes] of a sequence of arrays or tensors."""
    rows = [np.asarray(row.detach().cpu() if hasattr(row, "detach") else row) for row in answers]
    shapes = {row.shape for row in rows}
    if len(rows) != count or len(shapes) != 1 or rows[0].ndim != 1:
        got = ", ".join(str(list(shape)) for shape in sorted(shapes)[:3]) or "nothing"
        raise UserError(
            f"model '{name}' answered {len(rows)} targets of shape {got} for {count} images; expected {count} of [classes]"
        )
    return np.stack(rows)


def _notice(name: str) -> str:
    return (
        f"model '{name}' follows MAITE, whose protocol leaves open how pixels are scaled: it gets uint8 RGB in 0…255 at the "
        "data's own size; if it expects 0…1 or another size, wrap it: snellen.models.from_maite(model, floats=True, size=…)"
    )
