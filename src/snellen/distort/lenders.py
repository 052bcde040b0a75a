"""Which image lends its background to which: a donor's class first, then one of its images (Xiao et al. 2021, section 2)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from snellen.data.keys import sample_keys
from snellen.distort.draws import Draws


@dataclass(frozen=True)
class Lenders:
    """The images that may lend their background: ids, labels [N] (−1: lends nothing) and the number of classes.

    Classes go round in their order, for `mixed_next`; labels beyond them are classes that only the lenders have. A draw
    depends on the seed, the borrower's id and the sorted ids of each class: the lenders' order changes nothing.
    """

    ids: Sequence[str]
    labels: np.ndarray
    classes: int

    @functools.cached_property
    def keys(self) -> np.ndarray:
        """uint64 [N]."""
        return sample_keys(self.ids)

    @functools.cached_property
    def _order(self) -> np.ndarray:
        """The lenders by class, and by id in each; those that lend nothing come first."""
        return np.lexsort((np.array(self.ids, dtype=np.str_), self.labels))

    @functools.cached_property
    def _starts(self) -> np.ndarray:
        """Where each class begins in the order, and where the last ends."""
        last = max(int(self.labels.max(initial=-1)) + 1, self.classes)
        return np.searchsorted(self.labels[self._order], np.arange(last + 1))

    def choose(self, draw: Draws, labels: np.ndarray | None, kind: str, own: bool = True) -> np.ndarray:
        """int64 [B]: the lender of each borrower, −1 where no image of the class can lend.

        `kind` is mixed_same (the borrower's class), mixed_next (the one after it) or mixed_rand (uniform over the classes
        that can lend, the borrower's own among them). The image is uniform in its class, with replacement; without
        `own` it is never the borrower itself.
        """
        counts = np.diff(self._starts)
        classes = self._classes_of(draw, labels, kind, counts)
        lending = np.maximum(classes, 0)
        count = np.where(classes >= 0, counts[lending], 0) if len(counts) else np.zeros(len(classes), np.int64)
        if own:
            place = draw.integer("background", np.maximum(count, 1))
        else:
            rank = self._ranks(draw.keys, lending)
            count = count - (rank >= 0)
            among_others = draw.integer("background", np.maximum(count, 1))
            place = among_others + ((rank >= 0) & (among_others >= rank))
        there = np.flatnonzero(count > 0)
        chosen = np.full(len(classes), -1, np.int64)
        chosen[there] = self._order[self._starts[lending[there]] + place[there]]
        return chosen

    def _classes_of(self, draw: Draws, labels: np.ndarray | None, kind: str, counts: np.ndarray) -> np.ndarray:
        """int64 [B]: the class each borrows from, −1 for none."""
        if kind == "mixed_rand":
            able = np.flatnonzero(counts)
            if not len(able):
                return np.full(len(draw.keys), -1, np.int64)
            return able[draw.integer("background class", len(able))]
        assert labels is not None
        if kind == "mixed_same":
            return np.asarray(labels, np.int64)
        return np.where(labels >= 0, (labels + 1) % max(self.classes, 1), -1).astype(np.int64)

    def _ranks(self, keys: np.ndarray, lending: np.ndarray) -> np.ndarray:
        """int64 [B]: the borrower's own place among the lenders of the asked class, −1 where it is not there."""
        if not len(self.ids):
            return np.full(len(keys), -1, np.int64)
        by_key = np.argsort(self.keys, kind="stable")
        nearest = np.minimum(np.searchsorted(self.keys[by_key], keys), len(by_key) - 1)
        own = by_key[nearest]
        here = (self.keys[own] == keys) & (self.labels[own] == lending)
        places = np.empty(len(self.ids), np.int64)
        places[self._order] = np.arange(len(self.ids))
        return np.where(here, places[own] - self._starts[lending], -1)
