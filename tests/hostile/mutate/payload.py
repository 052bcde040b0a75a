"""Code in the clothes of data: whoever runs it leaves a file named `ran` in the folder CANARY names."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

VARIABLE = "HOSTILE_CANARY"
RAN = "ran"


def canary() -> Path:
    """The file that is there once code was run."""
    return Path(os.environ[VARIABLE]) / RAN


class Bomb:
    """Touches the canary when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (canary(),)


def pickled(file: Path) -> bytes:
    return pickle.dumps({file.name: Bomb()})
