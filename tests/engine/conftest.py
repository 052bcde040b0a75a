"""Small data and models whose answers are known by construction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from snellen.models import Model, from_callable

CLASSES = 4


@pytest.fixture
def levels(tmp_path: Path) -> str:
    """60 images of 16 × 16 pixels, each of one grey level that tells its class: 40, 80, 120 or 160."""
    labels = np.arange(60) % CLASSES
    images = np.broadcast_to((40 * (labels + 1))[:, None, None], (60, 16, 16)).astype(np.uint8)
    path = tmp_path / "levels.npz"
    np.savez(path, images=images, labels=labels, ids=np.array([f"level-{i:02d}" for i in range(60)]))
    return f"arrays:{path}"


def reads_corner(images: np.ndarray) -> np.ndarray:
    """Right as long as the pixel in the upper left corner shows; class 0 for anything darker."""
    seen = np.clip(np.rint(images[:, 0, 0, 0] / 40).astype(int) - 1, 0, CLASSES - 1)
    return np.eye(CLASSES)[seen] * 0.9 + 0.025


def reads_brightest(images: np.ndarray) -> np.ndarray:
    """Right as long as any pixel of the class's level shows and nothing is brighter."""
    seen = np.clip(np.rint(images.max((1, 2, 3)) / 40).astype(int) - 1, 0, CLASSES - 1)
    return np.eye(CLASSES)[seen] * 0.9 + 0.025


@pytest.fixture
def corner() -> Model:
    return from_callable(reads_corner, size=16, name="corner", version="1")


@pytest.fixture
def brightest() -> Model:
    return from_callable(reads_brightest, size=16, name="brightest", version="1")
