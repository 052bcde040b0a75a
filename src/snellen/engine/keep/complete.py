"""Whether a store holds what it must: every sample of every cell, or its name on a list of failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from snellen.data.dataset import Dataset
from snellen.engine.keep.failures import stored_failures, unreadable
from snellen.engine.keep.store import Store
from snellen.engine.requests.cell import BoundCell
from snellen.errors import UserError, option


class Completeness:
    """What may be missing in a store: images that could not be shown, and those a model failed on.

    The lists are read when the first row is missing, so a complete run pays nothing.
    """

    def __init__(self, store: Store, data: Mapping[str, Dataset]) -> None:
        self.store, self.data = store, data
        self._unreadable: dict[str, set[str]] = {}
        self._failures: dict[str, set[str]] | None = None

    def check_answers(self, bound: BoundCell, present: np.ndarray) -> None:
        """Refuse a cell without an answer, bool [samples], to an image that is on no list."""
        if not present.all():
            self._check(bound, present, "answers", self._failed(bound.key))

    def check_shown(self, bound: BoundCell, present: np.ndarray) -> None:
        """Refuse a cell of which it is not known how some images were shown."""
        if not present.all():
            self._check(bound, present, "rows of what was shown", set())

    def check_trials(self, bound: BoundCell, rows: Sequence[object]) -> None:
        """Refuse trials of which some samples have no row (None)."""
        present = np.array([row is not None for row in rows], bool)
        if not present.all():
            self._check(bound, present, "trials", set())

    def _check(self, bound: BoundCell, present: np.ndarray, what: str, failed: set[str]) -> None:
        ids = self.data[bound.on].samples.ids
        excused = self._not_shown(bound.on) | failed
        missing = [ids[row] for row in np.flatnonzero(~present) if ids[row] not in excused]
        if missing:
            raise incomplete(
                self.store,
                f"{len(missing):,} of {len(ids):,} {what} of '{bound.subject.name}' ({bound.subject.run}) under "
                f"{bound.distortion} on {bound.on} are missing (first '{missing[0]}')",
            )

    def _not_shown(self, on: str) -> set[str]:
        if on not in self._unreadable:
            self._unreadable[on] = {sample for sample, _ in unreadable(self.store, on)}
        return self._unreadable[on]

    def _failed(self, key: str) -> set[str]:
        if self._failures is None:
            self._failures = {}
            for failure in stored_failures(self.store):
                self._failures.setdefault(failure.cell, set()).add(failure.sample)
        return self._failures.get(key, set())


def incomplete(store: Store, what: str) -> UserError:
    """The error for a store whose files are whole, but do not hold all they should."""
    return UserError(
        f"{store.folder}: {what}; nothing is concluded from a part: "
        f"choose another {option('out')} or pass {option('fresh')} to ask again"
    )
