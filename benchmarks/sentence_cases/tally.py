"""Counting claims: how often each kind is false, beside what it may be, over all worlds and in each sort of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sentence_cases.kinds import KINDS, Kind
from sentence_cases.observation import Observation, ReportRead

ALL = "all worlds"
LEAST_SEEN = 0.8
SURE, SURE_OF_MANY = 0.01, 0.001  # chance of calling a kept promise broken: over all worlds, and in one of their sorts


@dataclass
class Tally:
    """Of one kind in one sort of world: `count` of `total` cases that its promise is about, and how often true ones are made."""

    kind: Kind
    world: str = ALL
    count: int = 0
    total: int = 0
    said_true: int = 0
    true: int = 0

    def add(self, seen: Observation) -> None:
        """Count one observation."""
        self.true += seen.true
        self.said_true += seen.said and seen.true
        if self.kind.promise == "seen":
            self.total += seen.planted
            self.count += seen.planted and seen.said
        elif self.kind.promise == "statement":
            self.total += seen.said
            self.count += seen.said and not seen.true
        else:
            self.total += not seen.true
            self.count += seen.said and not seen.true

    @property
    def share(self) -> float:
        return self.count / self.total if self.total else float("nan")

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Clopper and Pearson's interval of the share."""
        from scipy.stats import beta

        half = (1 - level) / 2
        low = 0.0 if not self.count else float(beta.ppf(half, self.count, self.total - self.count + 1))
        high = 1.0 if self.count == self.total else float(beta.ppf(1 - half, self.count + 1, self.total - self.count))
        return low, high

    def broken(self, chance: float) -> bool:
        """Whether the promise is broken, as far as so many cases tell: a kept one is called so with this chance at most."""
        from scipy.stats import binom

        if not self.total:
            return False
        if self.kind.promise == "seen":
            return bool(binom.cdf(self.count, self.total, LEAST_SEEN) < chance)
        return bool(binom.sf(self.count - 1, self.total, self.kind.most) < chance)


@dataclass
class Table:
    """The tallies of every kind, over all worlds and by their sorts."""

    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)

    def add(self, reports: Iterable[ReportRead]) -> None:
        """Count reports."""
        kinds = {kind.name: kind for kind in KINDS}
        for report in reports:
            for seen in report.observations:
                for world in (ALL, *report.tags):
                    key = (seen.kind, world)
                    self.tallies.setdefault(key, Tally(kinds[seen.kind], world)).add(seen)

    def of(self, kind: Kind) -> Tally:
        """That over all worlds."""
        return self.tallies.get((kind.name, ALL), Tally(kind))

    def sorts(self, kind: Kind) -> list[Tally]:
        """Those by sort of world that its promise is about."""
        own = (tally for (name, world), tally in self.tallies.items() if name == kind.name and world != ALL)
        return [tally for tally in own if tally.total]

    def broken(self, kinds: Sequence[Kind] = KINDS, sure: float = SURE, of_many: float = SURE_OF_MANY) -> list[Tally]:
        """The promises that are broken."""
        own = [self.of(kind) for kind in kinds if self.of(kind).broken(sure)]
        return own + [tally for kind in kinds for tally in self.sorts(kind) if tally.broken(of_many)]
