"""Checkpoints: the sums of a walk over a dataset, kept now and then, so that a stopped one continues."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from snellen.atomic import write_atomic
from snellen.errors import UserError
from snellen.files.npz import open_npz
from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import Tensor

EVERY = 20.0  # seconds between two of them


class Checkpoint:
    """A file of arrays with the walk and the position that they were made up to; none where `path` is None."""

    def __init__(self, path: Path | None) -> None:
        self.path, self._last = path, time.monotonic()

    def read(self) -> tuple[int, int, dict[str, Tensor]]:
        """The walk and the position to go on from, and the arrays; the beginning where there are none, or damaged ones."""
        if self.path is None or not self.path.exists():
            return 0, 0, {}
        try:
            with open_npz(self.path, "checkpoint") as file:
                arrays = {name: np.array(file.read(name)) for name in file.headers}
            walk, position = (int(number) for number in arrays.pop("place"))
        except (UserError, KeyError, ValueError):
            return 0, 0, {}
        return walk, position, {name: torch.from_numpy(array) for name, array in arrays.items()}

    def keep(self, walk: int, position: int, arrays: Mapping[str, Tensor], now: bool = False) -> None:
        """Write them, unless the last ones are younger than EVERY seconds; `now` does not wait."""
        if self.path is None or not (now or time.monotonic() - self._last >= EVERY):
            return
        content = io.BytesIO()
        stored = {name: array.cpu().numpy() for name, array in arrays.items()}
        np.savez(content, place=np.array([walk, position]), **stored)  # type: ignore[arg-type]
        write_atomic(self.path, content.getbuffer())
        self._last = time.monotonic()
