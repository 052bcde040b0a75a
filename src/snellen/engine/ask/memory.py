"""Asking a model no more at once than its device's memory holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from snellen.data.canvas import Canvas
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.model import Model
from snellen.models.tasks import join_answers

if TYPE_CHECKING:
    from torch import Tensor


def within_memory(
    ask: Callable[[Tensor], Tensor], model: Model, pixels: Tensor, batch: dict[Canvas, int], canvas: Canvas
) -> Tensor:
    """What `ask` (the model, or a function of it) says; where memory runs out the batch is halved from here on."""
    try:
        return ask(pixels)
    except torch.OutOfMemoryError:
        if len(pixels) == 1:
            raise UserError(
                f"not even one image fits into memory with model '{model.name}'; use --device cpu or a smaller model"
            ) from None
    half = (len(pixels) + 1) // 2
    batch[canvas] = min(batch[canvas], half)
    torch.cuda.empty_cache()
    return join_answers([within_memory(ask, model, part, batch, canvas) for part in (pixels[:half], pixels[half:])])
