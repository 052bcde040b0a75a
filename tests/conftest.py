"""Fixtures shared by all tests: where the real data are, small images, a home of its own for each test run."""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")  # how long an example takes depends on how busy the machine is

# Workers side by side share the cores: threads of torch that wait for each other would take most of the time.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Started in the background of a shell, tests and the commands that they stop by Ctrl-C would ignore it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]


def shared_folder() -> Path | None:
    """The folder with real images and trained networks: SNELLEN_SHARED, or ../shared beside the repository."""
    for place in (os.environ.get("SNELLEN_SHARED"), ROOT.parent / "shared"):
        if place and (Path(place) / "data" / "README.md").exists():
            return Path(place) / "data"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that have slow tests, so that no worker is left alone with them at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared data; tests that need them are skipped without them."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("needs the shared data: set SNELLEN_SHARED or put them into ../shared")
    return folder


@pytest.fixture(scope="session")
def realdata(shared: Path) -> Any:
    """The shared data's own reader."""
    spec = importlib.util.spec_from_file_location("realdata", shared / "realdata.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's own caches, or leaves anything in the machine's folder for temporary files."""
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path_factory.getbasetemp() / "home"))
    passing = tmp_path_factory.getbasetemp() / "passing"
    passing.mkdir(exist_ok=True)
    monkeypatch.setattr("tempfile.tempdir", str(passing))


@pytest.fixture
def photos() -> np.ndarray:
    """12 smooth random images uint8 [12, 32, 32, 3]."""
    random = np.random.default_rng(5)
    coarse = random.integers(0, 256, (12, 5, 5, 3))
    return np.repeat(np.repeat(coarse, 7, 1), 7, 2)[:, :32, :32].astype(np.uint8)
