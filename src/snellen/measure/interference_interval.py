"""Which true DI index would give the measured one: the interval and the estimate by test inversion.

Chance bends the index. It adds rises to every class: up where nothing rises, since the highest is picked, and down where one
class does, since the others share. A bootstrap repeats that bend instead of undoing it. So for each candidate truth the
whole measurement is simulated, and the candidates are kept under which the measured index is not unlikely.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from snellen.measure.interference_index import index_of
from snellen.measure.interference_noise import ChanceDraws, all_shares, noise_of
from snellen.measure.wrong_answers import Floats, WrongAnswers

DRAWS = 500
_FEWEST_DRAWS = 200  # with many classes, where a draw costs more and its index varies less
_ELEMENTS = 6_000_000  # draws · runs · classes at most
_AT_ONCE = 100_000  # of these: what stays in a processor's cache is faster
_STEPS = 16  # candidate truths; between them the ends are interpolated
_REACH = 5.0  # standard errors around the measured rise that candidates span
_CANDIDATES = 3  # classes at most that may be the one that rises most
_APART = 2.6  # standard errors by which a class that rises less must be behind for chance not to have kept it back
_SEEN = 0.995  # what chance stays below where a change of the other classes counts as seen
_LEVEL, _POWER = 0.95, 0.8


@dataclass(frozen=True)
class Plausible:
    """True indices that fit the data: the estimate (half of the data sets give less), the ends, what could have been seen.

    `detectable` is the true index at which four of five such data sets have an interval above 0.
    """

    value: float
    low: float
    high: float
    detectable: float


def plausible_index(
    before: WrongAnswers, after: WrongAnswers, paired: bool, draws: int = DRAWS, seed: int = 0
) -> Plausible:
    """The true index: that of the same runs on endless images of this kind.

    A candidate truth is the rise t of one class, times a pattern. In the pattern all other classes give way in proportion to
    their share; what they and the single runs were seen to do beyond chance is added. t = 0 is "no change". Candidates are
    ordered by likelihood ratio (Feldman & Cousins 1998), so the interval is never empty and begins at 0 where the index
    cannot be told from chance. Where several classes may be the one that rises most, the interval covers each of them, and its
    lower end all of them rising alike: then the measured rise of the highest is in part a choice of chance, and the index of
    several is lower than that of one. A second class that clearly rises may rise more or less than was seen.
    """
    shares = all_shares(after) - all_shares(before)
    classes = after.num_classes
    measured = float(index_of(shares[:, :classes]))
    draws = min(draws, max(_FEWEST_DRAWS, _ELEMENTS // max(1, shares.size * _STEPS)))
    noise = noise_of(before, after, paired, draws, seed)
    if noise is None:
        return Plausible(measured, measured, measured, 0.0)
    rivals = _rivals(noise, shares, classes)
    found = [_invert(noise, shares, classes, [leader], measured) for leader in rivals[:_CANDIDATES]]
    first = found[0]
    found += [_invert(noise, moved, classes, rivals[:1], measured) for moved in _moved(noise, shares, classes)]
    low = min([classes, *(plausible.low for plausible in found)])
    rising = [rival for rival in rivals if np.maximum(shares[:, rival], 0).any()]
    if low > 0 and len(rising) > 1:
        low = min(low, _invert(noise, shares, classes, rising, measured).low)
    return Plausible(
        min(first.value, classes),
        low,
        min(classes, max(plausible.high for plausible in found)),
        first.detectable,
    )


def _rivals(noise: ChanceDraws, shares: Floats, classes: int) -> list[int]:
    """The class that rises most, and behind it those that chance may have kept from it."""
    rise = np.maximum(shares[:, :classes], 0).mean(axis=0)
    order = np.argsort(-rise.round(12), kind="stable")
    means = noise.around(shares.mean(axis=0)).mean(axis=1)
    first = order[0]
    apart = _APART * (means[:, [first]] - means[:, order[1:]]).std(axis=0)
    behind = order[1:][rise[first] - rise[order[1:]] < apart]
    return [int(first), *behind.tolist()]


def _moved(noise: ChanceDraws, shares: Floats, classes: int) -> list[Floats]:
    """The shares with the second highest rise as low and as high as chance may hide, if that class clearly rises; else none."""
    means = shares[:, :classes].mean(axis=0)
    first, second = np.argsort(-means.round(12), kind="stable")[:2] if classes > 1 else (0, 0)
    error = float(noise.around(shares.mean(axis=0)).mean(axis=1)[:, second].std())
    if first == second or means[second] < _APART * error:
        return []
    moved = []
    for rise in (means[second] - 2 * error, min(means[second] + 2 * error, means[first])):
        copy = shares.copy()
        copy[:, second] += rise - means[second]
        moved.append(copy)
    return moved


def _invert(noise: ChanceDraws, shares: Floats, classes: int, leaders: list[int], measured: float) -> Plausible:
    """The truths that fit a measured index where the `leaders` rise alike and other classes change as in `shares`."""
    pattern, error = _pattern(noise, shares, leaders)
    rise = float(shares[:, leaders].mean())
    near, far = max(rise - _REACH * error, 0.0), min(max(rise, 0.0) + _REACH * error, 1.0)
    truths = np.concatenate([[0.0], np.linspace(near, far, _STEPS)[int(near == 0) :]])
    block = max(1, _AT_ONCE // noise.throws[0].size)
    parts = (truths[start : start + block] for start in range(0, len(truths), block))
    simulated = np.concatenate([_simulate(noise, some[:, None, None] * pattern, classes) for some in parts])
    scale = float(index_of(pattern[:, :classes]))
    return _accepted(simulated, measured, truths * scale)


def _simulate(noise: ChanceDraws, difference: Floats, classes: int) -> Floats:
    """Indices measured where the true differences are [truths, runs, bins]; [truths, draws]."""
    chance = noise.around(difference.mean(axis=1))
    chance += difference[:, None].astype(np.float32)
    return index_of(chance[..., :classes])


def _pattern(noise: ChanceDraws, shares: Floats, leaders: list[int]) -> tuple[Floats, float]:
    """The change of all classes where each leader rises by 1, [runs, bins], and the error of the leaders' mean rise."""
    chance = noise.around(shares.mean(axis=0))
    means, mean_chance = shares.mean(axis=0), chance.mean(axis=1)
    giving_way = -len(leaders) * noise.pool / max(1 - noise.pool[leaders].sum(), 1e-9)
    giving_way[leaders] = 1.0

    def others(change: Floats) -> Floats:
        rest = change - change[..., leaders].mean(axis=-1, keepdims=True) * giving_way
        rest[..., leaders] = 0.0
        return rest

    pattern, rise = np.tile(giving_way, (len(shares), 1)), float(means[leaders].mean())
    if rise > 0:
        pattern += _beyond_chance(others(means), others(mean_chance)) / rise
        pattern += _beyond_chance(shares - means, chance - mean_chance[:, None]) / rise
    return pattern, float(mean_chance[:, leaders].mean(axis=1).std())


def _beyond_chance(change: Floats, chance: Floats) -> Floats:
    """The change as far as chance does not account for its size; 0 where chance may account for all of it."""
    scale = chance.std(axis=0)
    varies = scale > 1e-9
    size = float((change[varies] ** 2 / scale[varies] ** 2).sum())
    sizes = (chance[:, varies] ** 2 / scale[varies] ** 2).sum(axis=1)
    if not varies.any() or size <= np.quantile(sizes, _SEEN):
        return np.zeros_like(change)
    return change * np.sqrt(max(0.0, 1 - float(sizes.mean()) / size))


def _accepted(simulated: Floats, measured: float, truths: Floats) -> Plausible:
    """The truths, [steps], under which the measured index is not unlikely among those simulated, [steps, draws]."""
    centre, width = simulated.mean(axis=1), simulated.std(axis=1) + 1e-9
    fine = np.linspace(0, len(truths) - 1, 4 * len(truths))
    centres, widths = (np.interp(fine, np.arange(len(truths)), values) for values in (centre, width))

    def distance(index: Floats) -> Floats:
        """How much less likely [steps, n] indices are under their truth than under their best, by normal laws, in standard
        errors."""
        likelihoods = (_likelihood(index, *law) for law in zip(centres, widths))
        best = functools.reduce(np.maximum, likelihoods)
        own = _likelihood(index, centre[:, None], width[:, None])
        return np.sqrt(np.maximum(best - own, 0))  # linear in the truth, so that its crossings can be interpolated

    most = np.quantile(distance(simulated), _LEVEL, axis=1)
    margin = most - distance(np.full((len(truths), 1), measured))[:, 0]
    inside = np.flatnonzero(margin >= 0) if (margin >= 0).any() else np.array([margin.argmax()])
    first, last = inside[0], inside[-1]
    low = truths[0] if first == 0 else _crossing(truths, margin, first, first - 1)
    high = truths[-1] if last == len(truths) - 1 else _crossing(truths, margin, last, last + 1)
    middle = np.maximum.accumulate(np.median(simulated, axis=1))
    value = float(np.interp(measured, middle, truths)) if measured > middle[0] else 0.0
    seen = np.maximum.accumulate((simulated > np.quantile(simulated[0], _LEVEL)).mean(axis=1))
    detectable = float(np.interp(_POWER, seen, truths)) if seen[-1] >= _POWER else float("nan")
    return Plausible(float(np.clip(value, low, high)), float(low), float(high), detectable)


def _likelihood(index: Floats, centre: Floats, width: Floats) -> Floats:
    """Of an index by a normal law, but for a constant; its logarithm."""
    return -0.5 * ((index - centre) / width) ** 2 - np.log(width)


def _crossing(truths: Floats, margin: Floats, inside: int, outside: int) -> float:
    """Where between two neighbours the margin becomes negative."""
    reached = max(margin[inside], 0.0)
    part = reached / (reached - margin[outside])
    return float(truths[inside] + part * (truths[outside] - truths[inside]))
