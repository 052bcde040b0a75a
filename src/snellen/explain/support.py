"""Support: maps that are no estimate, of models which know what they look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.errors import UserError
from snellen.models.model import Model

if TYPE_CHECKING:
    from torch import Tensor

    from snellen.explain.gradcam import Targets


def support(model: Model, images: Tensor, targets: Targets = None, layer: int | str | None = None) -> Tensor:
    """Maps float32 [B, H, W], 1 where the model's own answer to an image uint8 [3, H, W] rests on a pixel, else 0.

    Of the phantom world's observers; whatever the `targets`, since an observer looks at the same pixels for every class.
    """
    if model.support is None:
        raise UserError(
            f"it is not known where model '{model.name}' looks; method support is for observers of the phantom world, such "
            "as observer:texture"
        )
    if layer is not None:
        raise UserError(f"method support has no layers, got layer {layer}")
    return model.support(images)
