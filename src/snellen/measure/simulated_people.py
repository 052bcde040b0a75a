"""People who do not exist: a law by which simulated observers answer, good ones and bad ones, for trying out a study.

A good observer is right where ability plus ease of the image plus luck exceeds a bound (a probit law): people differ from each
other, and an image that is hard for one is hard for all. The bound is such that the mean over people and images is the accuracy
that was stated for a level. Some answers are lapses, made without looking. A bad observer either guesses every time or gives one
and the same answer. Answers depend only on the seed, the person and the image, never on the order of questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal, get_args

Behaviour = Literal["good", "guess", "constant"]
LEVELS: Mapping[Hashable, float] = {
    0: 0.95,
    1: 0.9,
    2: 0.8,
}  # of our choosing: no study states people's accuracy by level
_NORMAL = NormalDist()


@dataclass(frozen=True)
class SimulatedPeople:
    """A law of people: `accuracy` is that of good ones by level (or one for all), lapses aside, as a mean over people and images.

    `ability` and `difficulty` are the standard deviations of people and of images, in units of luck: at 0.9 and an `ability` of
    0.3, two thirds of people lie between 0.85 and 0.95 where images are alike. `lapse` is the share of answers made without
    looking, which are right as often as a guess.
    """

    accuracy: Mapping[Hashable, float] | float = field(default_factory=lambda: dict(LEVELS))
    ability: float = 0.3
    difficulty: float = 0.8
    lapse: float = 0.02
    seed: int = 0

    def __post_init__(self) -> None:
        levels = self.accuracy if isinstance(self.accuracy, Mapping) else {"all": self.accuracy}
        for level, share in levels.items():
            if not 0 < share < 1:
                raise ValueError(f"expected accuracies between 0 and 1, got {share:g} at level {level}")
        if not levels:
            raise ValueError("expected an accuracy for each level, got none")
        if not 0 <= self.lapse <= 1:
            raise ValueError(f"expected a lapse from 0 to 1, got {self.lapse:g}")
        for name, spread in (("ability", self.ability), ("difficulty", self.difficulty)):
            if not 0 <= spread < float("inf"):
                raise ValueError(f"expected {name} as a standard deviation from 0, got {spread:g}")

    def people(self, size: int, bad: int = 0) -> tuple[SimulatedPerson, ...]:
        """`size` people, `bad` of them bad at places that the seed chooses: guessing and constant ones in turn."""
        if not 0 <= bad <= size:
            raise ValueError(f"expected bad people from 0 to the {size} there are, got {bad}")
        places = sorted(range(size), key=lambda number: _share(self.seed, "bad", number))[:bad]
        turns = {place: get_args(Behaviour)[1 + turn % 2] for turn, place in enumerate(places)}
        return tuple(SimulatedPerson(self, number, turns.get(number, "good")) for number in range(size))

    def bound(self, level: Hashable) -> float:
        """What ability, ease and luck together must exceed at a level."""
        if not isinstance(self.accuracy, Mapping):
            share = self.accuracy
        elif level in self.accuracy:
            share = self.accuracy[level]
        else:
            known = ", ".join(map(str, self.accuracy))
            raise ValueError(f"no accuracy of simulated people at level '{level}'; there is one for {known}")
        return -_NORMAL.inv_cdf(share) * (1 + self.ability**2 + self.difficulty**2) ** 0.5


@dataclass(frozen=True)
class SimulatedPerson:
    """One of `law.people(...)`; `behaviour` is good, guess or constant."""

    law: SimulatedPeople
    number: int
    behaviour: Behaviour = "good"

    def answer(self, sample: str, label: str, choices: Sequence[str], level: Hashable = 0) -> str:
        """The answer to an image of class `label`, one of `choices`; asked again it is the same."""
        if not choices or label not in choices:
            raise ValueError(f"expected choices that hold the label '{label}', got {', '.join(choices) or 'none'}")
        seed, who, sample = self.law.seed, self.number, str(sample)
        if self.behaviour == "constant":
            return choices[int(_share(seed, "favourite", who) * len(choices))]
        if self.behaviour == "guess" or _share(seed, "lapse", who, sample) < self.law.lapse:
            return choices[int(_share(seed, "guess", who, sample) * len(choices))]
        reached = (
            self.law.ability * _normal(seed, "ability", who)
            + self.law.difficulty * _normal(seed, "ease", sample)
            + _normal(seed, "luck", who, sample)
        )
        wrong = [choice for choice in choices if choice != label]
        if reached > self.law.bound(level) or not wrong:
            return label
        return wrong[int(_share(seed, "error", who, sample) * len(wrong))]


def _share(*names: Hashable) -> float:
    """A number in (0, 1) that belongs to these names."""
    word = hashlib.blake2b(repr(names).encode(), digest_size=8).digest()
    return (int.from_bytes(word, "little") >> 12) / 2**52 + 2**-53


def _normal(*names: Hashable) -> float:
    return _NORMAL.inv_cdf(_share(*names))
