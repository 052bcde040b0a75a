"""Random worlds of labels, groups and images of differing hardness, and models whose accuracy is planted exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from snellen.audits import Exam
from snellen.data.dataset import Samples

FEWEST, MOST = 20, 2000  # images
FEW = 60  # images below which a world counts as small
OF_GROUP, OF_IMAGE = 0.2, 0.3  # parts of the variance that decides whether an answer is right
ALIKE = 0.5  # of the wrong answers have the offset of their group or image, whatever the condition


@dataclass(frozen=True)
class World:
    """Labelled images: `labels` [n] of `classes` classes, `groups` [n] or none; `hard` [n] is how hard each is, normal."""

    labels: np.ndarray
    classes: int
    groups: np.ndarray | None
    hard: np.ndarray
    tags: tuple[str, ...]

    @classmethod
    def draw(
        cls,
        random: np.random.Generator,
        classes: Sequence[int] = (2, 3, 5, 10),
        images: tuple[int, int] = (FEWEST, MOST),
        grouped: bool = True,
    ) -> World:
        """Two to ten classes, even or one of them with most images; alone, or in groups of even or uneven size."""
        count = int(random.choice(classes))
        size = round(float(np.exp(random.uniform(*np.log(images)))))
        tags = ["two classes"] if count == 2 else []
        tags += ["few images"] if size < FEW else []
        shares = np.full(count, 1 / count)
        if random.random() < 0.4:
            most = random.uniform(max(0.4, 1.5 / count), 0.85)
            shares = np.array([most, *np.full(count - 1, (1 - most) / (count - 1))])
            tags.append("imbalanced")
        kind = random.choice(["alone", "alone", "even", "uneven"]) if grouped and size >= 40 else "alone"
        groups = None if kind == "alone" else _groups(random, size, kind == "even")
        hard = np.sqrt(OF_IMAGE) * random.normal(size=size)
        if groups is None:
            labels = random.choice(count, size, p=shares)
            hard *= np.sqrt((OF_GROUP + OF_IMAGE) / OF_IMAGE)
        else:
            tags.append(f"{kind} groups")
            labels = random.choice(count, groups.max() + 1, p=shares)[groups]
            hard += np.sqrt(OF_GROUP) * random.normal(size=groups.max() + 1)[groups]
        if len(np.unique(labels)) < 2:
            labels = labels.copy()
            labels[: len(labels) // 2] = (labels[0] + 1) % count
        return cls(labels, count, groups, hard, tuple(tags or ["plain"]))

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The classes by name."""
        return tuple(f"class-{number}" for number in range(self.classes))

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple(f"image-{number}" for number in range(len(self)))

    @property
    def guess(self) -> float:
        """The best that can be right on these images without looking."""
        return max(1 / self.classes, float(np.bincount(self.labels).max() / len(self)))

    @cached_property
    def exam(self) -> Exam:
        """What audits know of this world."""
        columns = {} if self.groups is None else {"group": self.groups}
        return Exam(
            classes={"test": self.names}, side=32, samples={"test": Samples(self.ids, self.labels, columns)},
            facts={"test": frozenset({"masks"})}, texts={"test": "planted:test"},
        )  # fmt: skip

    def right(self, random: np.random.Generator, share: float | np.ndarray) -> np.ndarray:
        """bool [n]: right with this chance over all worlds, less often where images are hard."""
        own = np.sqrt(1 - OF_GROUP - OF_IMAGE) * random.normal(size=len(self))
        return np.asarray(ndtri(np.clip(share, 1e-9, 1 - 1e-9)) > self.hard + own)

    def wrong(self, random: np.random.Generator, habit: np.ndarray, pull: float = 0.0, to: int = 0) -> np.ndarray:
        """int [n]: a wrong answer to each image, even over the other classes, half by `habit`; a part `pull` goes `to` one."""
        free = random.integers(1, max(2, self.classes), len(self))
        offset = np.where(random.random(len(self)) < ALIKE, habit, free)
        elsewhere = (self.labels + offset) % self.classes
        return np.where((random.random(len(self)) < pull) & (self.labels != to), to, elsewhere)

    def habit(self, random: np.random.Generator) -> np.ndarray:
        """int [n]: by how much a model's wrong answers are off, the same in all conditions and for the images of a group."""
        if self.groups is None:
            return random.integers(1, max(2, self.classes), len(self))
        return random.integers(1, max(2, self.classes), self.groups.max() + 1)[self.groups]


def _groups(random: np.random.Generator, size: int, even: bool) -> np.ndarray:
    """int [size]: 8 to 60 groups; uneven ones differ in size by an exponential law."""
    count = int(random.integers(8, max(9, min(60, size // 4) + 1)))
    weights = np.ones(count) if even else random.exponential(size=count) + 0.05
    members = np.arange(count).repeat(1)
    extra = (
        random.choice(count, size - count, p=weights / weights.sum()) if not even else np.arange(size - count) % count
    )
    return np.sort(np.concatenate([members, extra]))
