"""`threshold:0.5`: bright where an image's mean pixel is above this share of white, else dark."""

from __future__ import annotations

import numpy as np

from snellen.errors import UserError
from snellen.models import Model, from_callable
from snellen.models.device import Device
from snellen.models.kinds import ModelKind

CLASSES = ("dark", "bright")


def load_threshold(place: str, argument: str | None, device: Device) -> Model:
    """The model of a text `threshold:PLACE`."""
    try:
        share = float(place)
    except ValueError:
        raise UserError(f"expected a share of white, such as threshold:0.5, got 'threshold:{place}'") from None

    def probabilities(images: np.ndarray) -> np.ndarray:
        """uint8 [B, H, W, 3] → [B, 2]."""
        bright = images.mean(axis=(1, 2, 3)) > 255 * share
        return np.stack([~bright, bright], axis=1).astype(np.float32)

    return from_callable(probabilities, CLASSES, name=f"threshold-{place}", version=place)


THRESHOLD = ModelKind(
    load_threshold, (("threshold:0.5", "bright where the mean pixel is above this share of white, else dark"),)
)
