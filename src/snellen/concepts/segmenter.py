"""A segmentation model as a source of concepts: shown the same pixels as the model that is dissected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor


def segmenter(model: Model, classes: int, places: Sequence[int]) -> Callable[[Tensor], Tensor]:
    """A function from uint8 images [n, 3, H, W] to integers [n, h, w]: the number among `places` of the model's class of each
    pixel plus 1, 0 where it is none of them."""
    numbers = torch.zeros(classes, dtype=torch.int64)
    numbers[list(places)] = torch.arange(1, len(places) + 1)

    def read(images: Tensor) -> Tensor:
        answers = model(_resized(images, model)).to(images.device)
        if len(answers) and not 0 <= int(answers.min()) <= int(answers.max()) < classes:
            raise UserError(
                f"model '{model.name}' answered class {int(answers.max())}, but names {classes}; name all of them"
            )
        return numbers.to(images.device)[answers]

    return read


def _resized(images: Tensor, model: Model) -> Tensor:
    """The images at the size of the model's own canvas, so that both models see the same part of a photo."""
    canvas = model.canvas
    if canvas is None or tuple(images.shape[2:]) == (canvas.height, canvas.width):
        return images
    scaled = torch.nn.functional.interpolate(
        images.float(), (canvas.height, canvas.width), mode="bilinear", antialias=True
    )
    return scaled.round().clamp(0, 255).to(torch.uint8)
