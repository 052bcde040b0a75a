"""A training that is under way, on disk: what it needs to go on as if it had never stopped, and what makes it another run."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.files import fit, reading
from snellen.files.weights import load_torch
from snellen.lazy_torch import torch
from snellen.train.recipe import differing

_SHARE = 0.05  # of the time may go into saving


class _Row(TypedDict):
    """What an epoch of the history holds at least."""

    loss: float
    accuracy: float | None
    seconds: float


class _Fields(TypedDict):
    """What a saved state holds at least."""

    identity: dict[str, Any]
    epoch: int
    model: dict[str, Any]
    optimiser: dict[str, Any]
    history: list[_Row]


@dataclass
class Saver:
    """Saves the state of one run in `path`, whole or not at all, as often as costs at most a twentieth of the time.

    `identity` is what decides the run (recipe, data …): the state of another one is refused.
    """

    path: Path
    identity: Mapping[str, Any]
    saved: int = 0  # epochs in the file
    _last: float = field(default_factory=time.perf_counter)
    _cost: float = 0.0

    def save(self, epoch: int, facts: Mapping[str, Any], last: bool = False) -> None:
        """Write the state after `epoch` epochs; after the last one the checkpoint takes its place."""
        began = time.perf_counter()
        if last or began - self._last < self._cost / _SHARE:
            return
        buffer = io.BytesIO()
        torch.save({"identity": dict(self.identity), "epoch": epoch, **facts}, buffer)
        write_atomic(self.path, buffer.getvalue())
        self._last = time.perf_counter()
        self._cost, self.saved = self._last - began, epoch

    def load(self) -> dict[str, Any] | None:
        """The saved state, on the CPU; None where there is none."""
        if not self.path.exists():
            return None
        with self.restoring():
            state: dict[str, Any] = load_torch(self.path, "training state")
            fit(state, _Fields, self.path)
            if len(state["history"]) != state["epoch"]:
                raise UserError(f"{self.path} has {len(state['history'])} rows for {state['epoch']} epochs")
        mismatch = difference(state["identity"], self.identity)
        if mismatch:
            raise UserError(f"'{self.path}' was begun otherwise ({mismatch}); choose another folder or delete the file")
        self.saved = state["epoch"]
        return state

    @contextlib.contextmanager
    def restoring(self) -> Iterator[None]:
        """What torch or the schema finds wrong with the saved state is told with the next step: to delete the file."""
        try:
            with reading(self.path, "the state of this training"):
                yield
        except UserError as error:
            raise UserError(f"{error}; delete it to start again") from error

    def remove(self) -> None:
        """Delete the state of a run that is done."""
        with contextlib.suppress(OSError):  # a folder that became read-only; or other runs have theirs there
            self.path.unlink(missing_ok=True)
            self.path.parent.rmdir()


_FACTS = ("holdout", "holdout_by", "partner", "init", "groups", "edit_set", "start_set", "occluders", "backgrounds")


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """The first thing in which two runs differ, for people; None where they are the same.

    Both hold `recipe`, `data`, `fingerprint`, `holdout`, `holdout_by` (the column of groups), and `partner`, `init`, `groups`,
    `edit_set`, `start_set`, `occluders` and `backgrounds` (fingerprints) where there is one.
    """
    settings = differing(old.get("recipe", {}), new["recipe"])
    if settings:
        return settings
    if old.get("fingerprint") != new["fingerprint"]:
        return f"data '{old.get('data')}' {old.get('fingerprint')} ≠ '{new['data']}' {new['fingerprint']}"
    for name in _FACTS:
        before, now = old.get(name) or None, new.get(name) or None
        if before != now:
            return f"{name} {before or 'none'} ≠ {now or 'none'}"
    return None
