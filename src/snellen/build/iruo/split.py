"""Which images are for training and which for testing.

By video, no video is in both sets. By class or by class and level (Kassaw et al. 2024), the first videos of a class are for
training and the rest for testing; a video may then be in both, with other classes or with other levels.
"""

from __future__ import annotations

import numpy as np

MOST_SWAPPED = 2000  # videos up to which exchanges of two are tried
SWEEPS = 20
LEVEL_WEIGHT = 0.1  # of a class at one level, beside the class as a whole
UNTRAINED, UNTESTED = 3.0, 1.0  # what it costs that a group is in one set only; a share that is off costs 0.49 at most


def split_by_video(videos: np.ndarray, labels: np.ndarray, levels: np.ndarray, share: float) -> np.ndarray:
    """bool per image, True for training: whole videos, so that each class has about `share` of its images there.

    Videos, the largest first, go where they bring the classes, and less so each class at each level, nearest to the share; then
    single videos change sides, and two are exchanged, while that helps. The same for the same input; no draw is involved.
    """
    if not len(videos):
        return np.zeros(0, bool)
    names, own = np.unique(videos, return_inverse=True)
    shares, weights = _shares_of_videos(own, len(names), labels, levels)
    order = np.argsort(-shares.sum(1), kind="stable")
    train = np.zeros(len(names), bool)
    so_far, remaining = np.zeros(shares.shape[1]), shares.sum(0)
    for video in order:  # what is still to come is expected to fall out as it should
        remaining = remaining - shares[video]
        rest = share * remaining
        train[video] = _cost(so_far + shares[video] + rest, weights, share) <= _cost(so_far + rest, weights, share)
        so_far = so_far + shares[video] * train[video]
    return _improve(train, shares, weights, share)[own]


def split_by_cut(videos: np.ndarray, groups: np.ndarray, share: float) -> np.ndarray:
    """bool per image, True for training: in each group the first videos, cut where their share of its images is nearest."""
    train = np.zeros(len(videos), bool)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        train[rows] = videos[rows] <= cut_of(videos[rows], share)
    return train


def cut_of(videos: np.ndarray, share: float) -> int:
    """The last video for training, of the videos (numbers in their order) of a group's images."""
    numbers, counts = np.unique(videos, return_counts=True)
    return int(numbers[np.abs(counts.cumsum() / counts.sum() - share).argmin()])


def _shares_of_videos(
    own: np.ndarray, count: int, labels: np.ndarray, levels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """[videos, groups]: the share of each group, a class or a class at a level, that is in each video; the groups' weights."""
    classes, places = np.unique(labels, return_inverse=True)
    pairs, at_level = np.unique(np.stack([labels, levels], 1), axis=0, return_inverse=True)
    counts = np.zeros((count, len(classes) + len(pairs)))
    np.add.at(counts, (own, places), 1)
    np.add.at(counts, (own, len(classes) + at_level.reshape(-1)), 1)
    weights = np.concatenate([np.ones(len(classes)), np.full(len(pairs), LEVEL_WEIGHT)])
    return counts / counts.sum(0), weights


def _cost(in_train: np.ndarray, weights: np.ndarray, share: float) -> np.ndarray:
    """How far the groups' shares [..., groups] are from where they should be, inside 0 to 1 if that can be."""
    alone = UNTRAINED * (in_train < 1e-9) + UNTESTED * (in_train > 1 - 1e-9)
    return np.asarray((((in_train - share) ** 2 + alone) * weights).sum(-1))


def _improve(train: np.ndarray, shares: np.ndarray, weights: np.ndarray, share: float) -> np.ndarray:
    """The split after changes of one video, and exchanges of two, that bring it nearer; it stays where none does."""
    train = train.copy()
    in_train = shares[train].sum(0)
    for _ in range(SWEEPS):
        before = float(_cost(in_train, weights, share))
        for video in range(len(train)):
            moved = in_train + (-shares[video] if train[video] else shares[video])
            if _cost(moved, weights, share) < _cost(in_train, weights, share) - 1e-12:
                in_train, train[video] = moved, not train[video]
        for video in range(len(train) if len(train) <= MOST_SWAPPED else 0):
            others = np.flatnonzero(train != train[video])
            sign = 1 if train[video] else -1
            costs = _cost(in_train + sign * (shares[others] - shares[video]), weights, share)
            if len(others) and costs.min() < _cost(in_train, weights, share) - 1e-12:
                other = others[costs.argmin()]
                in_train = in_train + sign * (shares[other] - shares[video])
                train[video], train[other] = train[other], train[video]
        if before - float(_cost(in_train, weights, share)) < 1e-12:
            break
    return train
