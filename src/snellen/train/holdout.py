"""A part of the training data kept back to judge by."""

from __future__ import annotations

import numpy as np

from snellen.data.dataset import Dataset
from snellen.errors import UserError


def hold_out(data: Dataset, share: float) -> tuple[Dataset, Dataset]:
    """The data without, and with only, a share of its samples, chosen by a hash of their ids: always the same ones."""
    if not 0 < share < 1:
        raise UserError(f"expected a share between 0 and 1 to hold out, got {share}")
    count = round(share * len(data))
    if not 0 < count < len(data):
        raise UserError(
            f"{data.text}: holding out {share} of {len(data)} images leaves an empty part; give more images"
        )
    order = data.samples.hash_order
    return data.at(np.sort(order[:-count])), data.at(np.sort(order[-count:]))
