"""Files of plain bytes without any structure, mapped: memory does not grow with their size."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from snellen.files.net import reading
from snellen.files.plain import open_file


def map_bytes(path: Path | str, kind: str = "file") -> np.ndarray:
    """uint8 [bytes]: the content of a regular file, read where it is looked at."""
    with open_file(path, kind) as file:
        if not os.fstat(file.fileno()).st_size:
            return np.empty(0, np.uint8)  # nothing can be mapped
        with reading(path, f"a {kind}"):
            return np.memmap(file, np.uint8, "r")
