"""Which images are for training and which for testing.

By video, no video is in both sets; videos that have a frame in common count as one. By class or by class and level (Kassaw et
al. 2024), the first videos of a class are for training and the rest for testing; a video may then be in both, with other classes
or with other levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

MOST_TRIED = 20  # videos up to which every split is tried
MOST_SWAPPED = 2000  # videos up to which exchanges of two are tried
SWEEPS = 20
LEVEL_WEIGHT = 0.1  # of a class at one level, beside the class as a whole
UNTRAINED, UNTESTED = 3.0, 1.0  # what it costs that a group is in one set only; a share that is off costs 0.49 at most
NEAR, FAR = (
    0.1,
    0.9,
)  # a class whose share is off by more than the one costs up to the other: more than levels can gain by it


def split_by_video(videos: np.ndarray, labels: np.ndarray, levels: np.ndarray, share: float) -> np.ndarray:
    """bool per image, True for training: whole videos, so that each class has about `share` of its images there.

    Videos, the largest first, go where they bring the classes, and less so each class at each level, nearest to the share; then
    single videos change sides, and two are exchanged, while that helps. Up to 20 videos every split is tried, and the best is
    taken. The same for the same input; no draw is involved.
    """
    if not len(videos):
        return np.zeros(0, bool)
    names, own = np.unique(videos, return_inverse=True)
    groups = _groups_of(own, len(names), labels, levels, share)
    shares = groups.shares
    order = np.argsort(-shares.sum(1), kind="stable")
    train = np.zeros(len(names), bool)
    so_far, remaining = np.zeros(shares.shape[1]), shares.sum(0)
    for video in order:  # what is still to come is expected to fall out as it should
        remaining = remaining - shares[video]
        rest = share * remaining
        train[video] = groups.cost(so_far + shares[video] + rest) <= groups.cost(so_far + rest)
        so_far = so_far + shares[video] * train[video]
    train = _improve(train, groups)
    return (_best_of_all(train, groups) if len(names) <= MOST_TRIED else train)[own]


def joined_videos(videos: Sequence[int], sources: Sequence[str]) -> Mapping[int, int]:
    """Video → the first of all videos that share a source with it, or with one that shares one with it, and so on.

    Image by image: the number of its video, and the checksum of its source.
    """
    first = {video: video for video in videos}

    def find(video: int) -> int:
        while first[video] != video:
            first[video] = first[first[video]]
            video = first[video]
        return video

    owner: dict[str, int] = {}
    for video, source in zip(videos, sources):
        low, high = sorted((find(video), find(owner.setdefault(source, video))))
        first[high] = low
    return {video: find(video) for video in first}


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


@dataclass(frozen=True)
class _Groups:
    """`shares` [videos, groups] of each group, a class or a class at a level, that are in each video; which are classes."""

    shares: np.ndarray
    is_class: np.ndarray
    aim: float

    def of_classes(self) -> _Groups:
        """The classes alone."""
        return _Groups(self.shares[:, self.is_class], self.is_class[self.is_class], self.aim)

    def cost(self, in_train: np.ndarray) -> np.ndarray:
        """How far the groups' shares [..., groups] are from the aim, and from being inside 0 to 1, if that can be."""
        off = np.abs(in_train - self.aim)
        alone = UNTRAINED * (in_train < 1e-9) + UNTESTED * (in_train > 1 - 1e-9)
        far = np.minimum((np.maximum(off - NEAR, 0) / NEAR) ** 2, FAR) * self.is_class
        return np.asarray(((off**2 + alone + far) * np.where(self.is_class, 1, LEVEL_WEIGHT)).sum(-1))


def _groups_of(own: np.ndarray, count: int, labels: np.ndarray, levels: np.ndarray, aim: float) -> _Groups:
    """The classes, and the classes at each level, of images of `count` videos, of which each has its `own`."""
    classes, places = np.unique(labels, return_inverse=True)
    pairs, at_level = np.unique(np.stack([labels, levels], 1), axis=0, return_inverse=True)
    counts = np.zeros((count, len(classes) + len(pairs)))
    np.add.at(counts, (own, places), 1)
    np.add.at(counts, (own, len(classes) + at_level.reshape(-1)), 1)
    return _Groups(counts / counts.sum(0), np.arange(counts.shape[1]) < len(classes), aim)


def _improve(train: np.ndarray, groups: _Groups) -> np.ndarray:
    """The split after changes of one video, and exchanges of two, that bring it nearer; it stays where none does."""
    train, shares = train.copy(), groups.shares
    in_train = shares[train].sum(0)
    for _ in range(SWEEPS):
        before = float(groups.cost(in_train))
        for video in range(len(train)):
            moved = in_train + (-shares[video] if train[video] else shares[video])
            if groups.cost(moved) < groups.cost(in_train) - 1e-12:
                in_train, train[video] = moved, not train[video]
        for video in range(len(train) if len(train) <= MOST_SWAPPED else 0):
            others = np.flatnonzero(train != train[video])
            sign = 1 if train[video] else -1
            costs = groups.cost(in_train + sign * (shares[others] - shares[video]))
            if len(others) and costs.min() < groups.cost(in_train) - 1e-12:
                other = others[costs.argmin()]
                in_train = in_train + sign * (shares[other] - shares[video])
                train[video], train[other] = train[other], train[video]
        if before - float(groups.cost(in_train)) < 1e-12:
            break
    return train


def _best_of_all(train: np.ndarray, groups: _Groups) -> np.ndarray:
    """The split of least cost; the one given where none is better, else the first in the order of binary numbers.

    Sums of all splits of one half of the videos are added to those of each split of the other; levels are looked at only where
    the classes alone cost less than the best so far.
    """
    half, classes = len(train) // 2, groups.of_classes()
    low, high = (_every_split(len(part)) for part in (train[:half], train[half:]))
    low_sums, high_sums = low @ groups.shares[:half], high @ groups.shares[half:]
    low_classes, high_classes = low_sums[:, groups.is_class], high_sums[:, groups.is_class]
    least, best = float(groups.cost(groups.shares[train].sum(0))) - 1e-9, train
    for upper, sums, class_sums in zip(high, high_sums, high_classes):
        hopeful = np.flatnonzero(classes.cost(low_classes + class_sums) < least)
        if len(hopeful):
            costs = np.round(groups.cost(low_sums[hopeful] + sums), 12)
            if costs.min() < least:
                least, best = float(costs.min()), np.concatenate([low[hopeful[costs.argmin()]], upper]) > 0
    return best


def _every_split(count: int) -> np.ndarray:
    """float [2^count, count] of 0 and 1: the binary numbers, the lowest digit first."""
    return (np.arange(1 << count)[:, None] >> np.arange(count) & 1).astype(float)
