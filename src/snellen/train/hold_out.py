"""Hold a part of the training data out to judge by: whole videos where the data have such groups, else single images."""

from __future__ import annotations

import numpy as np

from snellen.data.dataset import Dataset
from snellen.data.keys import sample_keys
from snellen.errors import UserError

GROUPS = ("group", "video")  # columns that say which images belong together, in this order


def hold_out(data: Dataset, share: float) -> tuple[Dataset, Dataset]:
    """The data without, and with only, a share of its samples, chosen by a hash: always the same ones.

    Images of one group are never in both parts. Groups are held out in the order of a hash of their names until the share is
    reached. One stays if it would take the images of a class away, or more than half of all. Without groups images are chosen by
    their ids.
    """
    if not 0 < share < 1:
        raise UserError(f"expected a share between 0 and 1 to hold out, got {share}")
    count = round(share * len(data))
    if not 0 < count < len(data):
        raise UserError(
            f"{data.text}: holding out {share} of {len(data)} images leaves an empty part; give more images"
        )
    column = group_column(data)
    if column is not None:
        judged = _whole_groups(data, np.array([str(name) for name in data.samples.columns[column]]), count)
        return data.at(np.flatnonzero(~judged)), data.at(np.flatnonzero(judged))
    order = data.samples.hash_order
    return data.at(np.sort(order[:-count])), data.at(np.sort(order[-count:]))


def group_column(data: Dataset) -> str | None:
    """The column that says which images belong together; None where there is none, or where each image is alone in its group."""
    column = next((name for name in GROUPS if name in data.samples.columns), None)
    if column is None:
        return None
    return column if len({str(name) for name in data.samples.columns[column]}) < len(data) else None


def _whole_groups(data: Dataset, groups: np.ndarray, count: int) -> np.ndarray:
    """bool [samples]: those of whole groups that together have at least `count` images, as far as classes allow."""
    names, member = np.unique(groups, return_inverse=True)
    labels = data.samples.labels
    judged = np.zeros(len(data), bool)
    for group in np.argsort(sample_keys([str(name) for name in names]), kind="stable")[::-1]:
        if judged.sum() >= count:
            break
        more = judged | (member == group)
        if more.sum() <= len(data) / 2 and _classes(labels[~more]) == _classes(labels):
            judged = more
    if not judged.any():
        raise UserError(
            f"{data.text}: none of its {len(names)} groups can be held out without more than half of the images or all of a "
            "class; give more groups"
        )
    return judged


def _classes(labels: np.ndarray) -> set[int]:
    return {int(label) for label in labels if label >= 0}
