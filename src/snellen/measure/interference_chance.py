"""Interference by chance: the DI index of wrong answers that fall on classes at random (Marcu & Prügel-Bennett 2022, B.2).

And the verdict from it: whether an index stands clearly above chance and above mild noise, clearly not, or cannot be told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import hypot, isfinite, nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from snellen.measure.estimate import Estimate
from snellen.measure.interference_index import index_of
from snellen.measure.interference_noise import agreement_of, clumping
from snellen.measure.wrong_answers import Floats, Normaliser, WrongAnswers, check_choice, conditions, wrong_answers

Kind = Literal["uniform", "one"]
REPEATS = 1000
PUBLISHED_REPEATS = 100_000
State = Literal["above", "unclear", "not above"]
NEGLIGIBLE = 0.25  # an index of 1: one class gains as many errors as it would have if all were spread evenly
ALPHA = 0.05


@dataclass(frozen=True)
class Chance:
    """Where an index stands among those of chance.

    `p` is the share of draws that reach the index, the index itself counted as one draw, so never 0; `mean`, `std` and
    `quantile95` describe the draws. All nan where there is no index or no draw.
    """

    p: float
    mean: float
    std: float
    quantile95: float
    draws: Floats = field(compare=False, repr=False)


@dataclass(frozen=True)
class PublishedChance:
    """The index of chance as B.2 states it: mean, deviation over the repetitions, and that of their mean."""

    mean: float
    std: float
    standard_error: float


def interference_null(
    clean: ArrayLike,
    distorted: ArrayLike,
    labels: ArrayLike,
    num_classes: int,
    distorted_labels: ArrayLike | None = None,
    normaliser: Normaliser = "errors",
    *,
    kind: Kind = "uniform",
    clean_errors: bool = True,
    agreement: float = 0.0,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Floats:
    """DI indices by chance, [repeats]: every error on distorted data goes to a random class (Marcu & Prügel-Bennett 2022, B.2).

    The clean errors stay as they are, and so do the runs and each run's number of distorted errors (those of −1
    included). `kind="uniform"` draws a class per error; `"one"` draws one class per run, which takes all its errors.
    `clean_errors=False` is the paper's own null, which throws the distorted errors alone, as if clean data had none: the
    whole of their histogram then counts as a rise. The same seed throws the same errors either way.

    `agreement` (`error_agreement`) is the part of each run's errors that `"uniform"` throws once for all runs. Runs that make
    the same errors pile them up together, so chance reaches further than independent throws do.

    >>> import numpy as np
    >>> from snellen.measure import interference_null
    >>> labels = np.repeat([0, 1, 2], 40)
    >>> distorted = np.where(np.arange(120) % 4, labels, 2)
    >>> draws = interference_null(labels, distorted, labels, 3)
    >>> draws.shape
    (1000,)
    """
    before, after = conditions(clean, distorted, labels, num_classes, distorted_labels, normaliser)
    return null_between(before, after, kind, clean_errors, agreement, repeats=repeats, seed=seed)


def null_between(
    before: WrongAnswers,
    after: WrongAnswers,
    kind: Kind = "uniform",
    clean_errors: bool = True,
    agreement: float = 0.0,
    *,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Floats:
    """The same of errors that are counted already."""
    check_choice("kind", kind, Kind)
    num_classes = after.num_classes
    if not before.samples or not after.samples:
        return np.full(repeats, nan)
    random = np.random.default_rng(seed)
    clean_shares = before.shares(before.histogram) if clean_errors else np.zeros((before.runs, num_classes))
    errors = after.histogram.sum(axis=-1)
    whole = np.maximum(errors, 1)
    if kind == "uniform" and clean_errors:  # images of a group are thrown together: so many fewer throws
        errors = np.ceil(errors / clumping(after)).astype(np.int64)
    common = round(agreement * int(errors.min()))
    even = np.full(num_classes, 1 / num_classes)
    block = max(1, 1_000_000 // after.bins)
    indices = [np.empty(0)]
    for start in range(0, repeats, block):
        size = (min(block, repeats - start), after.runs)
        if kind == "uniform":
            drawn = random.multinomial(errors - common, even, size)
            if common:
                drawn += random.multinomial(common, even, (size[0], 1))
        else:
            drawn = np.zeros((*size, num_classes), int)
            np.put_along_axis(drawn, random.integers(num_classes, size=size)[..., None], errors[:, None], -1)
        none_outside = np.zeros((*size, 1), int)
        shares = after.shares(np.concatenate([drawn, none_outside], axis=-1))
        if after.normaliser == "samples":
            shares = shares * (whole / np.maximum(errors, 1))[:, None]
        indices.append(index_of(shares - clean_shares))
    return np.concatenate(indices)


def error_agreement(pred: ArrayLike, labels: ArrayLike, num_classes: int) -> float:
    """How far runs make the same errors on the same images, 0 to 1; [runs, samples] and [samples].

    >>> import numpy as np
    >>> from snellen.measure import error_agreement
    >>> labels = np.zeros(6, int)
    >>> runs = np.array([[0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 2]])
    >>> error_agreement(runs, labels, 3)  # the same errors on the same images
    1.0
    """
    errors = wrong_answers(pred, labels, num_classes, "errors")
    return agreement_of(errors) if errors.samples else nan


def chance_of(index: float, draws: Floats) -> Chance:
    """Where `index` stands among the draws of `interference_null`.

    >>> import numpy as np
    >>> from snellen.measure import chance_of
    >>> found = chance_of(3.0, np.linspace(0, 1, 99))
    >>> found.p < 0.05, round(found.mean, 6)
    (True, 0.5)
    """
    if not isfinite(index) or not len(draws) or not np.isfinite(draws).all():
        return Chance(nan, nan, nan, nan, draws)
    reached = int((draws >= index - 1e-12).sum())  # a draw that equals the index but for rounding reaches it
    return Chance(
        p=(1 + reached) / (1 + len(draws)),
        mean=float(draws.mean()),
        std=float(draws.std(ddof=1)) if len(draws) > 1 else nan,
        quantile95=float(np.quantile(draws, 0.95)),
        draws=draws,
    )


def published_chance(
    errors: ArrayLike, num_classes: int, kind: Kind = "uniform", repeats: int = PUBLISHED_REPEATS
) -> PublishedChance:
    """The numbers of B.2, 0.10 (4e-5) and 0.10 ± 0.30 for ten classes: all repetitions pooled, as runs of one index.

    `errors` counts the wrong answers, per run or in all. One class stands for all repetitions r and there is no clean
    error, so that v_r = s_r · K · mean(s), with s_r the share of r's errors that hit it. Its mean over many is
    K · (1/K)² = 1/K; it varies as s_r does, with variance (1/K)(1 − 1/K), divided by the number of errors where each is
    thrown by itself (`"uniform"`). Pooled so, chance never picks the highest of a few runs' classes, and the numbers are
    lower than what the index of a few runs reaches by chance: `interference_null` is what an index compares with.

    >>> from snellen.measure import published_chance
    >>> round(published_chance(errors=500, num_classes=10).mean, 3)
    0.1
    """
    check_choice("kind", kind, Kind)
    thrown = np.atleast_1d(np.asarray(errors, float))
    thrown = thrown[thrown > 0]
    if not len(thrown) or num_classes < 1:
        return PublishedChance(nan, nan, nan)
    share = 1 / num_classes
    throws = thrown if kind == "uniform" else np.ones_like(thrown)
    std = sqrt(share * (1 - share) * float(np.mean(1 / throws)))
    return PublishedChance(share, std, std / sqrt(repeats))


def state_of(index: Estimate, yardstick: Estimate, p: float) -> State:
    """Where an index stands, from its interval, that of the yardstick and its p for errors thrown at random.

    - `above`: the interval lies above 0, p is below 0.05, and so is 0 below the interval of the difference to the yardstick
    - `not above`: even the upper end is no more than the yardstick's index, or negligible
    - `unclear`: neither, or nothing to compare with (no interval, no p: as with two classes)

    >>> from snellen.measure import Estimate, state_of
    >>> nan = float("nan")
    >>> state_of(Estimate(2.0, 1.5, 2.5, 100), Estimate(0.1, 0.0, 0.2, 100), p=0.001)
    'above'
    >>> state_of(Estimate(2.0, nan, nan, 100), Estimate(0.1, 0.0, 0.2, 100), p=nan)
    'unclear'
    """
    if not (isfinite(index.low) and isfinite(yardstick.low) and isfinite(p)):
        return "unclear"
    if index.low > 0 and p < ALPHA and least_difference(index, yardstick) > 0:
        return "above"
    return "not above" if index.high <= max(yardstick.value, NEGLIGIBLE) else "unclear"


def least_difference(index: Estimate, yardstick: Estimate) -> float:
    """The lower end of the 95% interval of a difference, from the two intervals (Donner & Zou 2012, MOVER).

    The two count as independent. Two distortions of the same images are not, but share their clean errors: their
    difference varies less, so the true end is rather higher.
    """
    return index.value - yardstick.value - hypot(index.value - index.low, yardstick.high - yardstick.value)
