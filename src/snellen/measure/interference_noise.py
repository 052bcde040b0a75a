"""How far shares of wrong answers move by chance: other images drawn, of the same kind and asked to the same runs.

Errors fall as independent throws would, but for three things that are measured on the images: runs that make the same errors
(five networks of one recipe are not five times the data), clean errors that persist under the distortion, and groups such as
videos, whose images are taken for the same class.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from snellen.measure.wrong_answers import Floats, WrongAnswers

_LEAST = 1e-9  # of a share, so that a class without errors has a scale


@dataclass(frozen=True)
class ChanceDraws:
    """Draws of chance for the differences in share, at whatever differences are taken to be true.

    `clean` and `distorted` are mean shares over the runs, [bins]; `weight` is the part of the clean errors among all.
    `throws` are standardised throws of clean and distorted errors, [runs, bins, draws] each: draws lie next to each other in
    memory, so that sums over a few classes are three times as fast; `pairing` is the factor by which persistent errors lessen
    the noise of the difference.
    """

    clean: Floats
    distorted: Floats
    weight: float
    throws: tuple[Floats, Floats]
    pairing: float

    @property
    def pool(self) -> Floats:
        """The shares if clean and distorted errors fall alike, [bins]."""
        return self.weight * self.clean + (1 - self.weight) * self.distorted

    def around(self, difference: Floats) -> Floats:
        """Noise of the differences, [..., draws, runs, bins], where the true mean difference over runs is [..., bins].

        The shares it is drawn with fit the data best under that difference. The clean share is never taken for smaller
        than it was seen: small shares vary little, and a difference that is not there would make it look small.
        """
        clean = np.maximum(self.pool - (1 - self.weight) * difference, _LEAST)
        distorted = np.maximum(clean + difference, _LEAST)
        sides = zip((np.maximum(clean, self.clean), distorted), self.throws)
        before, after = (_multinomial(share / share.sum(axis=-1, keepdims=True), throws) for share, throws in sides)
        after -= before
        after *= np.float32(self.pairing)
        return np.moveaxis(after, -1, -3)


def _multinomial(share: Floats, throws: Floats) -> Floats:
    """Throws with the covariance of a multinomial: each bin's own, less its part of what all bins gained."""
    part = share[..., None, :, None].astype(throws.dtype)
    noise = throws * np.sqrt(part)
    noise -= part * noise.sum(axis=-2, keepdims=True)
    return noise


def noise_of(before: WrongAnswers, after: WrongAnswers, paired: bool, draws: int, seed: int) -> ChanceDraws | None:
    """The noise of two conditions; None where nothing was seen to vary."""
    shares = [all_shares(answers) for answers in (before, after)]
    spreads = [_spread([(answers, 1.0)]) for answers in (before, after)]
    together = _spread_of_groups([(before, -1.0), (after, 1.0)]) if paired else sum(spreads)
    if together <= 1e-15:
        return None
    sizes = [divisors(answers).sum() for answers in (before, after)]
    weight = float(sizes[0] / sum(sizes))
    means = [share.mean(axis=0) for share in shares]
    pool = weight * means[0] + (1 - weight) * means[1]
    random = np.random.default_rng(seed)
    throws = [
        _throws(random, divisors(answers), pool, _agreement(answers, spread), draws)
        for answers, spread in zip((before, after), spreads)
    ]
    return ChanceDraws(means[0], means[1], weight, (throws[0], throws[1]), float(np.sqrt(together / sum(spreads))))


def divisors(answers: WrongAnswers) -> NDArray[np.int64]:
    """What each run's counts are divided by: its errors, or the samples."""
    errors = answers.histogram.sum(axis=-1)
    return np.full_like(errors, answers.samples) if answers.normaliser == "samples" else errors


def all_shares(answers: WrongAnswers) -> Floats:
    """The shares of everything that is counted, [runs, bins]: classes, outside, and right answers where samples divide."""
    counts, whole = answers.histogram, divisors(answers)[:, None]
    if answers.normaliser == "samples":
        counts = np.concatenate([counts, whole - counts.sum(axis=1, keepdims=True)], axis=1)
    return counts / np.maximum(whole, 1)


def agreement_of(answers: WrongAnswers) -> float:
    """How far runs make the same errors on the same images: 0 independently, 1 all the same; 0 for a single run."""
    return _agreement(answers, _spread([(answers, 1.0)])) if answers.runs > 1 else 0.0


def _agreement(answers: WrongAnswers, spread: float) -> float:
    """The correlation between runs that makes the spread of the mean share what was measured."""
    whole = np.maximum(divisors(answers), 1)
    shares = answers.histogram / whole[:, None]
    alone = float((shares * (1 - shares)).sum(axis=1) @ (1 / whole)) / answers.runs
    if answers.runs < 2 or alone <= 0:
        return 0.0
    return float(np.clip((answers.runs * spread / alone - 1) / (answers.runs - 1), 0, 1))


@dataclass(frozen=True)
class _Run:
    """One run of one condition: where its answers fall, and what its errors add to the mean share over runs."""

    bin: NDArray[Any]
    counts: NDArray[np.int64]
    share: Floats
    factor: float
    of_samples: bool


def _runs_of(answers: WrongAnswers, sign: float) -> list[_Run]:
    whole = np.maximum(divisors(answers), 1)
    return [
        _Run(row, counts, counts / size, sign / (answers.runs * size), answers.normaliser == "samples")
        for row, counts, size in zip(answers.bin, answers.histogram, whole)
    ]


def _spread(parts: Sequence[tuple[WrongAnswers, float]]) -> float:
    """The variance over images of mean shares over runs, summed over classes; several parts, with signs, are added up first.

    Per image and class: what its errors add to the shares, less what the shares take from it. Of this the squares are
    summed, run by run and pair by pair of runs: from counts, without ever holding an array of images × classes.
    """
    runs = [run for answers, sign in parts for run in _runs_of(answers, sign)]
    alone = sum(_product(run, run) for run in runs)
    return alone + 2 * sum(_product(*pair) for pair in itertools.combinations(runs, 2))


def clumping(answers: WrongAnswers) -> float:
    """How many times the variance of shares is that of images on their own, because images of a group err alike; 1 at least."""
    if answers.groups is None or (alone := _spread([(answers, 1.0)])) <= 0:
        return 1.0
    return max(1.0, _spread_of_groups([(answers, 1.0)]) / alone)


def _spread_of_groups(parts: Sequence[tuple[WrongAnswers, float]]) -> float:
    """The same over groups, where samples have any: what images of one group add to the shares is summed before it is squared."""
    member = parts[0][0].groups
    if member is None or not len(member) or (count := int(member.max()) + 1) < 2:
        return _spread(parts)
    deviations = np.zeros((count, parts[0][0].num_classes + 1))
    right = deviations.shape[1]
    for run in (run for answers, sign in parts for run in _runs_of(answers, sign)):
        errors = run.bin < right
        place = member[errors] * right + run.bin[errors]
        counts = np.bincount(place, minlength=deviations.size).reshape(deviations.shape)
        taken = np.bincount(member, minlength=count) if run.of_samples else counts.sum(axis=1)
        deviations += run.factor * (counts - taken[:, None] * run.share)
    return float(np.square(deviations).sum()) * count / (count - 1)


def _product(run: _Run, other: _Run) -> float:
    """The products of two runs' deviations, summed over images and classes."""
    same, counts, taking = _common(run, other)
    crossed = counts[0] @ other.share + counts[1] @ run.share
    return float(run.factor * other.factor * (same - crossed + taking * (run.share @ other.share)))


def _common(run: _Run, other: _Run) -> tuple[int, tuple[NDArray[Any], NDArray[Any]], int]:
    """How many samples fall into one bin in both; each run's errors on samples from which the other's share is taken off; from
    how many both are: those with an error, or all."""
    right = len(run.counts)
    if run is other:
        same = int(run.counts.sum())
        return same, (run.counts, run.counts), len(run.bin) if run.of_samples else same
    same = int(np.count_nonzero((run.bin == other.bin) & (run.bin < right)))
    if run.of_samples:
        return same, (run.counts, other.counts), len(run.bin)
    both = np.flatnonzero((run.bin < right) & (other.bin < right))
    first, second = (np.bincount(each.bin[both], minlength=right) for each in (run, other))
    return same, (first, second), len(both)


def _throws(
    random: np.random.Generator, whole: NDArray[np.int64], pool: Floats, agreement: float, draws: int
) -> Floats:
    """Standardised throws [runs, bins, draws]: a part common to all runs and a part of each, divided by √(its errors)."""
    expected = np.maximum(whole.mean() * pool, _LEAST)
    parts = [((draws, 1, len(pool)), agreement), ((draws, len(whole), len(pool)), 1 - agreement)]
    noise = sum(random.poisson(expected * part, size) - expected * part for size, part in parts)
    scale = np.where(whole > 0, 1 / np.sqrt(np.maximum(whole, 1)), 0.0)  # a run without errors adds no chance
    throws = noise / np.sqrt(expected) * scale[:, None]
    return np.ascontiguousarray(np.moveaxis(throws, 0, -1), np.float32)
