"""Plug-ins that a test loads are gone after it; files and packages to load."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from snellen import audits, data
from snellen.distort import language
from snellen.models import plugged
from snellen.plugins import PluginTable, file, origin
from snellen.plugins.installed import installed

TABLES: tuple[PluginTable, ...] = (plugged.PLUGGED, data.PLUGGED, language.PLUGGED, audits.PLUGGED)

ALL_FOUR = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from snellen.audits import Audit, Exam
from snellen.audits.finding import Finding
from snellen.data import DataKind, from_arrays
from snellen.data.dataset import filter_rows
from snellen.distort import Distortion
from snellen.models import from_callable
from snellen.models.kinds import ModelKind

WHITE = 255


def by_mean(images):
    return np.eye(2)[(images.mean((1, 2, 3)) > 127).astype(int)]


def load_mean(place, argument, device):
    return from_callable(by_mean, ["dark", "bright"], name="mean", version=place)


def load_specks(path, options):
    images = np.random.default_rng(0).integers(0, 256, (int(path), 8, 8, 3)).astype(np.uint8)
    labels = np.arange(int(path)) % 2
    content = {"images": images, "labels": labels, "classes": np.array(["dark", "bright"])}
    return filter_rows(from_arrays(content, f"specks:{path}", path), options)


@dataclass(frozen=True)
class Negative(Distortion):
    """Turn each pixel into its negative."""

    def __call__(self, images, view):
        return WHITE - images


@dataclass(frozen=True)
class MeanAudit(Audit):
    """The share of images taken for bright."""

    by_default: ClassVar[bool] = True
    names: ClassVar[tuple[str, ...]] = ("brightness",)

    def conclude(self, exam, answers):
        clean = answers[exam.clean()]
        share = float((clean.pred == 1).mean())
        return [Finding("mean", "brightness", answers.model, share, share, share, len(clean.pred), "taken for bright")]


MODELS = {"mean": ModelKind(load_mean, (("mean:1", "bright above the middle"),))}
DATA = {"specks": DataKind(load_specks, "specks:30", "random pixels")}
DISTORTIONS = {"negative": Negative}
AUDITS = {"mean": MeanAudit}
'''


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """All plug-ins as they were before the test."""
    before = [(table, dict(table.table), dict(table.origins), set(table.skipped)) for table in TABLES]
    facts, files, used = dict(audits.FACTS), dict(file._files), dict(origin._used)
    yield
    for table, names, origins, skipped in before:
        for now, then in ((table.table, names), (table.origins, origins)):
            now.clear()
            now.update(then)
        table.skipped = skipped
    for state, then_state in ((audits.FACTS, facts), (file._files, files), (origin._used, used)):
        state.clear()
        state.update(then_state)  # type: ignore[arg-type]
    for offers in file._offers.values():
        offers.clear()
    installed.cache_clear()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def all_four(here: Path) -> Path:
    """A file with a model, a dataset, a distortion and an audit."""
    (here / "tools.py").write_text(ALL_FOUR)
    return Path("tools.py")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put a package into a folder as pip leaves it: its modules, and the metadata that lists its entry points."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def put(name: str, version: str, points: str, **modules: str) -> None:
        info = site / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(points)
        for module, source in modules.items():
            (site / f"{module}.py").write_text(source)
            monkeypatch.delitem(sys.modules, module, raising=False)
        installed.cache_clear()

    return put
