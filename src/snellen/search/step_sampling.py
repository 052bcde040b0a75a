"""Which steps of a deletion curve are looked at: all of them, or so few that the mean area over the images is still known.

A curve has `points` values between the whole image and the hidden one. Both ends are always looked at. Of the steps between
them a systematic sample with a random start is taken, an own one for each curve: so the estimate of each area has no bias,
whatever the curve looks like, and the errors of the images cancel out in their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, nan, sqrt

import numpy as np

Z = 1.6449  # standard errors on each side of a mean that hold it in 90% of cases
FEWEST = 4  # steps of a curve between its ends
TRIAL_SIZES = (7, 14, 28, 49)  # sample sizes at which the roughness of a whole curve is measured
WEIGHT_OF_PRIOR = 2  # whole curves that what is assumed of all networks counts as much as


def states_at(points: int, tiles: int) -> np.ndarray:
    """int64 [points]: how many tiles are hidden at each point: from none to all, evenly and rounded."""
    return np.floor(np.arange(points) * tiles / (points - 1) + 0.5).astype(np.int64)


def systematic(inner: int, count: int, start: float) -> np.ndarray:
    """int64 [count]: the inner points 1 … inner that are looked at, evenly spaced from a start in [0, 1) of the spacing on.

    Each point is in the sample with the same probability where the start is uniform.
    """
    count = min(count, inner)
    spacing = inner / count if count else 1.0
    return np.floor((start + np.arange(count)) * spacing).astype(np.int64) + 1


@dataclass(frozen=True)
class Sample:
    """What is known of one curve: the scores of the whole and of the hidden image, and some inner points with their scores."""

    first: float
    last: float
    point: np.ndarray
    score: np.ndarray

    def area(self, points: int) -> float:
        """An estimate without bias of the area under the curve, by trapezoids over a width of 1.

        What is averaged is the distance from the line between the ends: it is the smaller, the smoother the curve.
        """
        ends = (self.first + self.last) / 2
        if not len(self.point):
            return ends
        line = self.first + (self.last - self.first) * self.point / (points - 1)
        return ends + float(np.mean(self.score - line)) * (points - 2) / (points - 1)

    def curve(self, points: int) -> np.ndarray:
        """float64 [points]: the curve, straight between the known points, moved so that its area is the estimated one."""
        known = np.concatenate([[0], self.point, [points - 1]])
        values = np.concatenate([[self.first], self.score, [self.last]]).astype(np.float64)
        curve = np.interp(np.arange(points), known, values)
        if len(self.point) < points - 2:
            curve[1:-1] += (self.area(points) - trapezoid(curve)) * (points - 1) / (points - 2)
        return curve

    def is_whole(self, points: int) -> bool:
        """Whether every point is known."""
        return len(self.point) == points - 2


def trapezoid(curve: np.ndarray) -> float:
    """The area under a curve over a width of 1."""
    return float((curve.sum() - (curve[0] + curve[-1]) / 2) / (len(curve) - 1))


def roughness(curve: np.ndarray) -> float:
    """How far samples of a curve go astray: the root mean square error of its area times the number of points looked at.

    The error falls about as one over that number, so one value serves all; it is computed over every start of some sizes.
    """
    inner, true = len(curve) - 2, trapezoid(curve)
    squares = []
    for count in (size for size in TRIAL_SIZES if size < inner):
        starts = (np.arange(2 * ceil(inner / count)) + 0.5) / (2 * ceil(inner / count))
        samples = (systematic(inner, count, start) for start in starts)
        areas = [Sample(curve[0], curve[-1], at, curve[at]).area(len(curve)) for at in samples]
        squares.append(count**2 * float(np.mean(np.square(np.array(areas) - true))))
    return sqrt(float(np.mean(squares))) if squares else 0.0


@dataclass(frozen=True)
class Budget:
    """How many inner points each curve of an image is looked at, so that the mean over `images` errs by no more than `error`.

    `error` is in points of the 0 to 100 scale, with 90% confidence; `curves` of each image are averaged; `prior` is the
    roughness that is assumed before any curve is known, in normalised points.
    """

    images: int
    error: float
    curves: int
    prior: float

    def count(self, inner: int, roughnesses: Sequence[float] = (), earlier: Sequence[int] = ()) -> int:
        """The number of points of each further curve, by the roughness of the whole curves that are known so far (normalised
        points) and by the numbers of points that `earlier` images had: what they erred too much or too little is made up for.
        """
        square = sum([WEIGHT_OF_PRIOR * self.prior**2, *np.square(roughnesses)]) / (WEIGHT_OF_PRIOR + len(roughnesses))
        allowed = self.curves * (self.images * self.error / Z) ** 2
        left = max(allowed - sum(square / count**2 for count in earlier if count < inner), allowed / 10)
        further = max(self.images - len(earlier), 1)
        return min(max(ceil(sqrt(square * further / left)), FEWEST), inner)


def sampling_error(counts: np.ndarray, roughnesses: Sequence[float], inner: int) -> float:
    """The error, 90% confidence, of a mean over images and over the curves of each: [images, curves] inner points were known.

    In the unit of the roughnesses, those of curves that are wholly known; the fewer they are, the more is allowed for chance
    (Student's t). nan where there are less than two and they are needed.
    """
    partial = counts[counts < inner].astype(np.float64)
    if not partial.size:
        return 0.0
    if len(roughnesses) < 2:
        return nan
    from scipy.special import stdtrit

    square = float(np.mean(np.square(roughnesses)))
    return (
        float(stdtrit(len(roughnesses) - 1, 0.95)) * sqrt(square * float((1 / np.square(partial)).sum())) / counts.size
    )
