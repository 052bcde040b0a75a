"""Checkpoints: the sums of a walk over a dataset, kept now and then, so that a stopped one continues."""

from __future__ import annotations

import hashlib
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
            stored = arrays.pop("checksum").tobytes()
            if stored != _checksum(arrays):
                return 0, 0, {}
            walk, position = arrays.pop("place").tolist()
            return walk, position, {name: torch.from_numpy(array) for name, array in arrays.items()}
        except (UserError, KeyError, ValueError, TypeError):
            return 0, 0, {}

    def keep(self, walk: int, position: int, arrays: Mapping[str, Tensor], now: bool = False) -> None:
        """Write them, unless the last ones are younger than EVERY seconds; `now` does not wait."""
        if self.path is None or not (now or time.monotonic() - self._last >= EVERY):
            return
        content = io.BytesIO()
        stored = {"place": np.array([walk, position]), **{name: array.cpu().numpy() for name, array in arrays.items()}}
        digest = np.frombuffer(_checksum(stored), np.uint8)
        np.savez(content, checksum=digest, **stored)  # type: ignore[arg-type]
        write_atomic(self.path, content.getbuffer())
        self._last = time.monotonic()


def _checksum(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Of all arrays with their names, since large ones are read without a check of their own."""
    digest = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
