"""What a model of each task answers: a user's arrays and lists, checked and as one tensor per batch.

| task | a callable returns | the model gives |
|---|---|---|
| classification | probabilities [n, classes] | float [n, classes] |
| segmentation | class maps, integers [n, H, W], or probabilities [n, classes, H, W] | int64 [n, H, W] |
| detection | per image a list of boxes x0, y0, x1, y1 in pixels, maximum exclusive | float [n, most, 4], nan for no box |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.card import MOST_CLASSES, Task

if TYPE_CHECKING:
    from torch import Tensor

MOST_BOXES = 10_000  # of one image
SLACK = 1e-3  # by which a probability may be below 0, as rounded ones are
BatchShape: TypeAlias = tuple[int, int, int]  # images, height, width


def read_classes(answers: Any, shape: BatchShape, name: str) -> Tensor:
    """float32 [n, classes]: the probabilities that a callable returned."""
    count = shape[0]
    values = np.asarray(answers)
    if values.dtype.kind == "U":
        raise UserError(
            f"model '{name}' answered words, such as {str(values.flat[0])[:60]!r}; make it a model by "
            "snellen.models.from_labels(function, classes=[…])"
        )
    if np.iscomplexobj(values):
        raise UserError(f"model '{name}' answered complex numbers; expected probabilities [{count}, classes]")
    values = values.astype(np.float32, copy=False)
    if values.ndim != 2 or len(values) != count:
        raise UserError(
            f"model '{name}' answered {list(values.shape)} for {count} images; expected probabilities [{count}, classes]"
        )
    refuse_negative(values, name)
    return torch.from_numpy(values)


def refuse_negative(values: np.ndarray, name: str) -> None:
    """Raise where a probability is below 0: −1 for "unknown" and logits would be read as confidences."""
    wrong = int((values < -SLACK).any(1).sum())
    if wrong:
        raise UserError(
            f"model '{name}' answered negative probabilities for {wrong} of {len(values)} images, the lowest {values.min():g}; "
            "expected 0 to 1; if they are logits, apply a softmax, or wrap the network by snellen.models.from_torch"
        )


def read_maps(answers: Any, shape: BatchShape, name: str) -> Tensor:
    """int64 [n, H, W]: the class of each pixel, or the likeliest one of probabilities; a negative number is none."""
    count, height, width = shape
    values = np.asarray(answers)
    per_class = values.ndim == 4 and values.shape[0] == count and values.shape[1] and values.shape[2:] == shape[1:]
    if per_class and np.issubdtype(values.dtype, np.floating):
        return torch.from_numpy(values.argmax(1))
    if values.shape == shape and (values.dtype == bool or np.issubdtype(values.dtype, np.integer)):
        if values.max(initial=0) >= MOST_CLASSES:
            raise UserError(f"model '{name}' answered class {values.max()}; expected numbers below {MOST_CLASSES:,}")
        return torch.from_numpy(values.astype(np.int64))
    raise UserError(
        f"model '{name}' answered {values.dtype} {list(values.shape)} for {count} images; expected whole class numbers "
        f"[{count}, {height}, {width}] or probabilities [{count}, classes, {height}, {width}]"
    )


def read_boxes(answers: Any, shape: BatchShape, name: str) -> Tensor:
    """float32 [n, most, 4]: the boxes of each image, and nan where it has fewer than the most."""
    count = shape[0]
    if not isinstance(answers, Sequence | np.ndarray) or len(answers) != count:
        got = f"{len(answers)} lists" if isinstance(answers, Sequence | np.ndarray) else type(answers).__name__
        raise UserError(f"model '{name}' answered {got} for {count} images; expected one list of boxes per image")
    lists = [_boxes_of_one(some, name) for some in answers]
    boxes = np.full((count, max(map(len, lists), default=0), 4), np.nan, np.float32)
    for row, some in enumerate(lists):
        boxes[row, : len(some)] = some
    return torch.from_numpy(boxes)


def _boxes_of_one(answer: Any, name: str) -> np.ndarray:
    try:
        boxes = np.asarray(() if answer is None else answer, np.float32)
    except (TypeError, ValueError):
        boxes = np.full(1, np.nan)
    if not boxes.size:
        return np.zeros((0, 4), np.float32)
    if boxes.ndim != 2 or boxes.shape[1] != 4 or len(boxes) > MOST_BOXES or not np.isfinite(boxes).all():
        raise UserError(
            f"model '{name}' answered {str(answer)[:60]!r} for an image; expected a list of up to {MOST_BOXES:,} boxes "
            "[x0, y0, x1, y1] in pixels"
        )
    return boxes


def no_answer(task: Task, shape: BatchShape) -> Tensor:
    """The answer of a model of a task to images that it failed on: no class anywhere, or no box."""
    if task == "segmentation":
        return torch.full(shape, -1)
    return torch.full((shape[0], 0, 4), torch.nan)


def at_rows(answers: Tensor | None, rows: Sequence[int], shape: BatchShape, task: Task, classes: int) -> Tensor:
    """Answers to some rows of a batch, in their places; what a model that failed answers in the others: nan for `classes`."""
    blank = torch.full((shape[0], classes), torch.nan) if task == "classification" else no_answer(task, shape)
    if answers is None:
        return blank
    if task == "detection":
        blank = torch.full((shape[0], answers.shape[1], 4), torch.nan)
    blank[list(rows)] = answers
    return blank


def join_answers(parts: Sequence[Tensor]) -> Tensor:
    """The answers to several batches below each other; where images of one have more boxes, nan fills up the others."""
    most = max(part.shape[1] for part in parts)
    if all(part.shape[1] == most for part in parts):
        return torch.cat(list(parts))
    pad = torch.nn.functional.pad
    return torch.cat([pad(part, (0, 0, 0, most - part.shape[1]), value=torch.nan) for part in parts])


READERS: dict[Task, Callable[[Any, BatchShape, str], Tensor]] = {
    "classification": read_classes,
    "segmentation": read_maps,
    "detection": read_boxes,
}


def maps_of_network(answers: Any, shape: BatchShape, name: str) -> Tensor:
    """int64 [n, H, W]: the likeliest class of each pixel, from what a segmentation network gives for n images.

    That is logits or probabilities [n, classes, h, w], alone, as `.logits` or under `out`; a coarser grid is scaled to the
    images' size bilinearly, as the published evaluations do.
    """
    answers = answers["out"] if isinstance(answers, dict) and "out" in answers else getattr(answers, "logits", answers)
    if not isinstance(answers, torch.Tensor) or answers.ndim != 4 or len(answers) != shape[0]:
        got = list(answers.shape) if isinstance(answers, torch.Tensor) else type(answers).__name__
        raise UserError(
            f"model '{name}' answered {got} for {shape[0]} images; expected [{shape[0]}, classes, height, width]"
        )
    if answers.shape[2:] != shape[1:]:
        answers = torch.nn.functional.interpolate(answers.float(), size=shape[1:], mode="bilinear")
    return answers.argmax(1)


def summary(answers: Tensor, task: Task) -> tuple[tuple[float, ...], ...]:
    """A few numbers per image that stand for what a model answered, for its fingerprint.

    Probabilities as they are; of a class map the share of each class; of boxes their number and mean.
    """
    values = answers.cpu().numpy()
    if task == "segmentation":
        bins = 1 + int(values.max(initial=0))
        values = np.stack(
            [np.bincount(classes[classes >= 0], minlength=bins) / max(classes.size, 1) for classes in values]
        )
    elif task == "detection":
        present = ~np.isnan(values[:, :, 0])
        counts = present.sum(1, keepdims=True)
        means = np.where(present[..., None], values, 0).sum(1) / np.maximum(counts, 1)
        values = np.concatenate([counts, means], axis=1)
    return tuple(tuple(round(float(number), 6) for number in row) for row in values)
