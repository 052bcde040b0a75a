"""Small images of the shared pack as datasets in memory: CIFAR-10, CIFAR-100, Fashion-MNIST, MNIST."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from snellen.data import Dataset, from_arrays, limited
from snellen.hashing import checksum, key_of

CLASSES = {
    "cifar10": ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    "fashion_mnist": (
        "T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot",
    ),
    "mnist": tuple(map(str, range(10))),
    "cifar100": tuple(map(str, range(100))),
}  # fmt: skip


def shared() -> Path:
    """The folder of the data pack: SNELLEN_SHARED, or ../shared beside the repository, or shared inside it."""
    root = Path(__file__).resolve().parents[2]
    for place in (os.environ.get("SNELLEN_SHARED"), root.parent / "shared", root / "shared"):
        if place and (Path(place) / "data" / "realdata.py").exists():
            return Path(place) / "data"
    raise SystemExit("needs the shared data: set SNELLEN_SHARED or put them into ../shared")


def small_images(name: str, split: str, limit: int | None = None) -> Dataset:
    """The official split of a dataset, at most `limit` images of it (chosen by a hash of their ids).

    The whole split where `full/` has it; else the part of it that the pack holds, which is said.
    """
    if (shared() / "full" / name / "labels.npz").exists():
        images, labels = _reader().load_full(name, split)
    else:
        images, labels, _ = _reader().load_small(name, split)
        print(f"{name} is not in full/: {len(images):,} images of its {split} split", file=sys.stderr)
    return limited(in_memory(f"{name}-{split}", images, labels, CLASSES[name], split), limit)


def in_memory(name: str, images: np.ndarray, labels: np.ndarray, classes: tuple[str, ...], split: str) -> Dataset:
    """Arrays as a dataset; ids are positions in the split."""
    images = np.ascontiguousarray(images)
    ids = np.array([f"{split}-{row:05d}" for row in range(len(images))])
    held = {"images": images, "labels": labels.astype(np.int64), "classes": np.array(classes), "ids": ids}
    return from_arrays(held, f"memory:{name}", key_of([name, checksum(memoryview(images).cast("B"))]))


def _reader() -> ModuleType:
    spec = importlib.util.spec_from_file_location("realdata", shared() / "realdata.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
