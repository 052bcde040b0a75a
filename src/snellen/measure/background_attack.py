"""Adversarial backgrounds: which foregrounds some background fools, and how often each one does (Xiao et al. 2021, 3 and G)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from snellen.measure.accuracies import accuracy
from snellen.measure.estimate import Estimate

Rule = Literal["any", "background"]


@dataclass(frozen=True)
class AttackSuccess(Estimate):
    """`value` is `vulnerable`, the share of foregrounds that a background fools; `n` counts the foregrounds tried.

    `fooled` [foregrounds] is 1, 0, or nan where nothing was tried. `per_background` [backgrounds] is the attack success
    rate: of the foregrounds of other classes that it was tried on (`tried` of them), the share answered as the
    background's class; nan where none. `class_totals` gives each class of backgrounds the share of foregrounds of other
    classes that at least one of its backgrounds turns into that class.
    """

    vulnerable: float
    fooled: NDArray[np.float64]
    per_background: NDArray[np.float64]
    tried: NDArray[np.int64]
    class_totals: Mapping[int, float]


def attack_success(
    pred: ArrayLike,
    foreground: ArrayLike,
    background: ArrayLike,
    rule: Rule = "any",
    evaluated: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> AttackSuccess:
    """How far backgrounds fool a model: `pred` [foregrounds, backgrounds] are the answers to every combination.

    `foreground` and `background` are their classes. `rule=any`: a foreground is vulnerable if any background makes its
    answer wrong, as the public evaluation counts (table 6 is by it); `background`: if a background of another class makes
    the answer that class, as the paper's text says. −1, an answer outside the classes, is wrong. `evaluated` (bool, of
    pred's shape) marks what was asked: a search that stops at the first success tells who is vulnerable, but neither the
    rates per background nor the totals, which need the whole matrix (or a random part of it). `groups` are of foregrounds.

    >>> from snellen.measure import attack_success
    >>> answers = [[0, 0, 1], [1, 1, 1]]  # the last background turns the object of class 0 into class 1
    >>> attack_success(answers, foreground=[0, 1], background=[0, 0, 1]).vulnerable
    0.5
    """
    answers, own, other = np.asarray(pred), np.asarray(foreground), np.asarray(background)
    if rule not in ("any", "background"):
        raise ValueError(f"expected rule any or background, got '{rule}'")
    if answers.shape != (len(own), len(other)):
        raise ValueError(f"expected answers [{len(own)} foregrounds, {len(other)} backgrounds], got {answers.shape}")
    asked = np.ones(answers.shape, bool) if evaluated is None else np.asarray(evaluated, bool)
    if asked.shape != answers.shape:
        raise ValueError(f"expected evaluated of shape {answers.shape}, got {asked.shape}")
    conflict: NDArray[np.bool_] = asked & (own[:, None] != other[None, :])
    turned: NDArray[np.bool_] = conflict & (answers == other[None, :])
    # By the paper's words only backgrounds of another class can fool, so a foreground needs one of those to be counted.
    hit, tested = (asked & (answers != own[:, None]), asked) if rule == "any" else (turned, conflict)
    fooled = np.where(tested.any(axis=1), hit.any(axis=1).astype(np.float64), nan)
    share = accuracy(fooled, groups)
    tried = conflict.sum(axis=0)
    rates = np.divide(turned.sum(axis=0), tried, out=np.full(len(other), nan), where=tried > 0)
    return AttackSuccess(
        share.value, share.low, share.high, share.n, share.value, fooled, rates, tried, _totals(turned, conflict, other)
    )


def _totals(turned: NDArray[np.bool_], conflict: NDArray[np.bool_], other: NDArray[np.int64]) -> dict[int, float]:
    """Class of backgrounds → share of the foregrounds tried on it that some background of it turns into that class."""
    totals = {}
    for name in np.unique(other).tolist():
        these = other == name
        tried = np.any(conflict[:, these], axis=1)
        totals[name] = float(np.mean(np.any(turned[:, these], axis=1), where=tried)) if tried.any() else nan
    return totals
