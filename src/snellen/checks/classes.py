"""Answers and labels that do not speak of the same classes."""

from __future__ import annotations

import numpy as np

from snellen.checks.answers import chance_level
from snellen.checks.doubt import FEWEST, CleanAnswers, Doubt, clearly_better

UNMAPPED = 0.2  # share of answers outside the data's classes
SURE = 0.5  # of the way from an even answer to certainty: the mean confidence of a model that is sure of its answers
VARIED = 0.5  # of the way from one class to all of them: how many classes varied answers use
SHUFFLES = 199
MOST_CLASSES = 2000  # beyond which the best relabelling takes too long to find


def unmapped(clean: CleanAnswers) -> Doubt | None:
    """Many answers that are no class of the data; they count as wrong."""
    share = float((clean.pred < 0).mean()) if len(clean.pred) else 0.0
    if share <= UNMAPPED:
        return None
    return Doubt(
        "unmapped",
        f"{100 * share:.0f}% of the answers of {clean.who} to unmodified images are none of the data's "
        f"{len(clean.classes)} classes and count as wrong",
        'check the class names, or pass --labels map.json; its rule "mean" or "sum" lets the model choose among the '
        "data's classes only; for a chat model try #protocol=choice, or name its words by #synonyms=FILE",
        clean.model,
    )


def class_order(clean: CleanAnswers) -> Doubt | None:
    """Answers that become far more often right when classes are renamed one to one, and more often than any constant answer."""
    if len(clean.labels) < FEWEST:
        return None
    right, renaming = relabel(clean.pred, clean.labels, len(clean.classes), clean.groups)
    own = clean.correct
    # One class answered to most images is right more often under the name of the most frequent class, whatever it is called.
    constant = (clean.labels == np.bincount(clean.labels).argmax()).astype(np.float64)
    if not clearly_better(right, own, clean.groups) or not clearly_better(right, constant, clean.groups):
        return None
    confusions = [(np.sum((clean.pred == a) & (clean.labels == b)), a, b) for a, b in enumerate(renaming) if a != b]
    _, answer, truth = max(confusions)
    return Doubt(
        "class_order",
        f"the answers of {clean.who} look like the data's classes in another order: renamed one to one they are right on "
        f"{100 * right.mean():.1f}%, as they stand on {100 * own.mean():.1f}% (what it calls '{clean.classes[answer]}' is "
        f"mostly '{clean.classes[truth]}')",
        "check the order of the model's classes and pass them: from_torch(module, classes=[…]) or --labels map.json",
        clean.model,
    )


def unrelated(clean: CleanAnswers) -> Doubt | None:
    """Sure and varied answers that tell nothing about the labels; accuracy at chance without that is `chance_level`."""
    guessing = chance_level(clean)
    even = 1 / len(clean.classes)
    if guessing is None or len(clean.labels) < FEWEST or not clean.confidence.mean() >= even + SURE * (1 - even):
        return guessing
    shares = np.bincount(clean.pred[clean.pred >= 0]) / len(clean.pred)
    classes_used = np.exp(-np.sum(shares[shares > 0] * np.log(shares[shares > 0])))
    if classes_used < 1 + VARIED * (len(clean.classes) - 1) or informative(clean.pred, clean.labels, clean.groups):
        return guessing
    return Doubt(
        "unrelated_labels",
        f"{clean.who} is sure of its answers (mean confidence {clean.confidence.mean():.2f}, "
        f"{np.count_nonzero(shares)} of {len(clean.classes)} classes used), yet they are not shown to tell more about the "
        "labels than shuffled labels would",
        "look at some images beside their labels: the labels may be shuffled or shifted against the images, or belong to "
        "other classes than the model's",
        clean.model,
    )


def relabel(
    pred: np.ndarray, labels: np.ndarray, classes: int, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each answer is right under the best one-to-one renaming, and that renaming int [classes].

    The renaming that judges an answer comes from the other half of the images, so that it cannot be fitted to chance. Images of
    one group are in the same half.
    """
    right = (pred == labels).astype(np.float64)
    if len(_present(pred, labels, classes)) > MOST_CLASSES:
        return right, np.arange(classes)
    second = _second_half(labels, groups)
    halves = np.flatnonzero(~second), np.flatnonzero(second)
    for fit, rest in (halves, halves[::-1]):
        renaming = _best_renaming(pred[fit], labels[fit], classes)
        answers = pred[rest]
        right[rest] = (answers >= 0) & (renaming[answers] == labels[rest])
    return right, _best_renaming(pred, labels, classes)


def informative(pred: np.ndarray, labels: np.ndarray, groups: np.ndarray | None = None) -> bool:
    """Whether answers and labels share more information than 99% of shuffled labels would.

    The margins stay as they are, so the mutual information orders as Σ c·log c over the pairs' counts c. A group counts as one
    image, and its labels are shuffled together.
    """
    random = np.random.default_rng(7919)  # not 0: users may have shuffled with that
    _, member, size = np.unique(np.arange(len(labels)) if groups is None else groups, False, True, True)
    weight = 1 / size[member]
    own = _shared_information(pred, labels, weight)
    chance = [
        _shared_information(pred, _shuffle(labels, member, random.permutation(len(size))), weight)
        for _ in range(SHUFFLES)
    ]
    return bool(own > np.quantile(chance, 0.99))


def _shuffle(labels: np.ndarray, member: np.ndarray, others: np.ndarray) -> np.ndarray:
    """For each image the label of one in the group that takes the place of its own (`others`), drawn out to its length."""
    order, size = np.argsort(member, kind="stable"), np.bincount(member)
    begin = np.cumsum(size) - size
    own = member[order]
    place = np.arange(len(labels)) - begin[own]
    shuffled = np.empty_like(labels)
    shuffled[order] = labels[order][begin[others[own]] + place * size[others[own]] // size[own]]
    return shuffled


def _second_half(labels: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """bool [images]: every other image of each class; of images in groups, every other group of those that begin with it."""
    _, first, member = np.unique(np.arange(len(labels)) if groups is None else groups, True, True)
    second = np.zeros(len(first), bool)
    second[np.argsort(labels[first], kind="stable")[1::2]] = True
    return second[member]


def _best_renaming(pred: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
    """The data's class for each answered class that makes most answers right; ties leave a class as it is."""
    from scipy.optimize import linear_sum_assignment

    present = _present(pred, labels, classes)
    place = np.zeros(classes, np.int64)
    place[present] = np.arange(len(present))
    mapped = pred >= 0
    pairs = place[pred[mapped]] * len(present) + place[labels[mapped]]
    counts = np.eye(len(present)) / 2 + np.bincount(pairs, minlength=len(present) ** 2).reshape(len(present), -1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    renaming = np.arange(classes)
    renaming[present[rows]] = present[columns]
    return renaming


def _present(pred: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
    """The data's classes that occur among answers or labels, in order."""
    seen = np.zeros(classes + 1, bool)
    seen[pred] = seen[labels] = True  # −1, an answer that is none of them, is the last place
    return np.flatnonzero(seen[:-1])


def _shared_information(pred: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> float:
    _, pair = np.unique((pred + 1) * (labels.max() + 1) + labels, return_inverse=True)
    counts = np.bincount(pair, weight)
    return round(float(np.sum(counts * np.log(counts))), 9)  # equal tables are equal whatever the order of their sums
