"""A torch network compiled for its device: asked in batches of one size, so that it is compiled once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from snellen.errors import UserError, option
from snellen.lazy_torch import torch
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor


def compile_model(model: Model, backend: str = "inductor") -> Model:
    """The same model, its network compiled (torch.compile) when it is first asked; one that is no torch network as it is.

    `module` stays the network itself, into which white-box methods look.
    """
    if model.module is None or model.predict_by is None:
        return model
    network = torch.compile(model.module, dynamic=False, backend=backend)
    return replace(model, predict=_in_equal_batches(model.predict_by(network), model.name))


def _in_equal_batches(predict: Callable[[Tensor], Tensor], name: str) -> Callable[[Tensor], Tensor]:
    """Batches smaller than the largest so far are filled up with black images, whose answers are dropped."""
    sizes: dict[tuple[int, ...], int] = {}  # of batches, by the shape of their images

    def predict_equally(images: Tensor) -> Tensor:
        from torch._dynamo.exc import BackendCompilerFailed

        shape, count = tuple(images.shape[1:]), len(images)
        size = sizes[shape] = max(sizes.get(shape, 0), count)
        blank = images.new_zeros((size - count, *shape))
        try:
            return predict(torch.cat([images, blank]) if len(blank) else images)[:count]
        except torch.OutOfMemoryError:
            del sizes[shape]  # half of them come next
            raise
        except BackendCompilerFailed as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise UserError(
                f"model '{name}' cannot be compiled here ({lines[0]}); pass {option('compile')} off"
            ) from None

    return predict_equally
