"""`snellen doctor`: what this machine has, and whether an audit works on it."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

import numpy as np

from snellen.cache_folder import snellen_home
from snellen.engine.keep.run_json import PACKAGES
from snellen.errors import UserError
from snellen.version import __version__

WRITTEN = 32 * 2**20  # bytes, to measure the speed of writing
LEAST_DISK = 2**30  # bytes free, below which a run may not fit
LONGEST_WALK = 2.0  # seconds spent on the size of a cache
DATA = "phantom:test?size=32&n=90"
RIGHT = 81  # of the 90 phantoms; the self-test's model is wrong on every tenth


@dataclass(frozen=True)
class Problem:
    """What is wrong on this machine, and what to do."""

    text: str
    advice: str


@dataclass(frozen=True)
class Health:
    """What was found, by section (name → value in words), and what is wrong."""

    sections: dict[str, dict[str, str]]
    problems: list[Problem]

    @property
    def ready(self) -> bool:
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        return {"ready": self.ready, **self.sections, "problems": [asdict(one) for one in self.problems]}


def doctor() -> Health:
    """Look at versions, devices, memory, disk, caches and extras, then audit a model whose answers are known."""
    sections: dict[str, dict[str, str]] = {}
    problems: list[Problem] = []
    for name, look in SECTIONS.items():
        sections[name], found = look()
        problems += found
    return Health(sections, problems)


Found = tuple[dict[str, str], list[Problem]]


def versions() -> Found:
    """Of Python, snellen and what it stands on."""
    told = {"snellen": __version__, "python": platform.python_version(), "system": platform.platform()}
    missing = []
    for name in PACKAGES:
        try:
            told[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            told[name] = "missing"
            missing.append(Problem(f"the package {name} is missing", f"pip install {name}"))
    return told, missing


def devices() -> Found:
    """Where models can run; each is given a small product to compute."""
    try:
        import torch
    except Exception as error:  # a broken installation raises anything, from OSError to RuntimeError
        return {}, [Problem(f"torch cannot be imported ({_line(error)})", "install torch anew: see pytorch.org")]
    told = {"cpu": f"{os.cpu_count()} cores, {torch.get_num_threads()} threads"}
    for i in range(torch.cuda.device_count()):
        held = torch.cuda.get_device_properties(i)
        told[f"cuda:{i}"] = f"{held.name}, {_size(held.total_memory)}"
    if torch.backends.mps.is_available():
        told["mps"] = "Apple GPU"
    problems = []
    for device in told:
        try:
            ones = torch.ones((64, 64), device=device)
            works = bool((ones @ ones == 64).all())
        except Exception as error:
            works, told[device] = False, f"{told[device]}, fails: {_line(error)}"
        if not works:
            advice = (
                "pass --device cpu, or repair the driver" if device != "cpu" else "install torch anew: see pytorch.org"
            )
            problems.append(Problem(f"the device {device} does not compute", advice))
    return told, problems


def memory() -> Found:
    """Of the machine, and what of it is free."""
    told = {}
    for name, word in (("total", "SC_PHYS_PAGES"), ("free", "SC_AVPHYS_PAGES")):
        if word in os.sysconf_names:
            told[name] = _size(os.sysconf(word) * os.sysconf("SC_PAGE_SIZE"))
    return told, []


def disk() -> Found:
    """Free space and speed of writing in the working folder, where runs go."""
    folder = Path.cwd()
    free = shutil.disk_usage(folder).free
    told = {"folder": str(folder), "free": _size(free)}
    problems = []
    if free < LEAST_DISK:
        problems.append(Problem(f"only {_size(free)} are free in {folder}", "make room, or choose --out elsewhere"))
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            block, began = os.urandom(2**20), time.perf_counter()
            for _ in range(WRITTEN // len(block)):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
            told["writing"] = f"{_size(WRITTEN / (time.perf_counter() - began))}/s"
    except OSError as error:
        problems.append(Problem(f"{folder} cannot be written ({_line(error)})", "go to another folder or pass --out"))
    return told, problems


def caches() -> Found:
    """Where weights and cards are kept, and how much there is."""
    own = snellen_home()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folders = {
        "SNELLEN_HOME": own,
        "HF_HOME": Path(os.environ.get("HF_HOME") or cache / "huggingface").expanduser(),
        "TORCH_HOME": Path(os.environ.get("TORCH_HOME") or cache / "torch").expanduser(),
    }
    told = {name: f"{folder}, {_held(folder)}" for name, folder in folders.items()}
    try:
        own.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=own):
            pass
    except OSError as error:
        advice = "set SNELLEN_HOME to a folder that you may write"
        return told, [Problem(f"SNELLEN_HOME, {own}, cannot be written ({_line(error)})", advice)]
    return told, []


def extras() -> Found:
    """Optional parts: there, or the line that installs them. None of them is needed."""
    try:
        listed = metadata.requires("snellen") or []
    except metadata.PackageNotFoundError:
        return {"unknown": "snellen runs from its source folder; pip install -e . lists its extras"}, []
    needs: dict[str, list[str]] = {}
    for line in listed:
        if match := re.match(r"([\w.-]+).*extra == ['\"](\w+)['\"]", line):
            needs.setdefault(match[2], []).append(match[1])
    told = {}
    for extra, packages in needs.items():
        missing = [name for name in packages if not _installed(name)]
        told[extra] = f"missing {', '.join(missing)}: pip install 'snellen[{extra}]'" if missing else "there"
    return told, []


def self_test() -> Found:
    """An audit of a model with known answers on the phantom world, into a temporary folder."""
    advice = "run `snellen audit` by hand on your data to see more, and report it with this output"
    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="snellen-doctor-") as folder:
            wrong = _audited(Path(folder))
    except UserError as error:
        wrong = str(error)
    except Exception as error:  # whatever it is, the user should read it beside the versions
        wrong = f"{type(error).__name__}: {_line(error)}"
    told = {"audit": f"{'failed' if wrong else 'as expected'} ({time.perf_counter() - began:.1f} s)"}
    return told, [Problem(f"the self-test failed: {wrong}", advice)] if wrong else []


SECTIONS: dict[str, Callable[[], Found]] = {
    "versions": versions,
    "devices": devices,
    "memory": memory,
    "disk": disk,
    "caches": caches,
    "extras": extras,
    "self_test": self_test,
}


def _audited(folder: Path) -> str:
    """What differs from what must come out; empty where nothing does."""
    from snellen.data import load_data
    from snellen.exam.audit import audit
    from snellen.models import from_callable

    data = load_data(DATA)
    assert data.read_together is not None
    images, labels = data.read_together(range(len(data))).images, data.samples.labels
    classes = len(data.classes)
    known = {image.tobytes(): (label + (i % 10 == 0)) % classes for i, (image, label) in enumerate(zip(images, labels))}

    def remembers(shown: np.ndarray) -> np.ndarray:
        return np.eye(classes)[[known.get(image.tobytes(), 0) for image in shown]]

    model = from_callable(remembers, data.classes, size=32, name="remembers", version="1")
    run = audit(model, data, "occlusion(areas=[0.3], fills=[black])", folder / "run", quiet=True)
    found = next(one["value"] for one in run.results()["findings"] if one["name"] == "accuracy")
    rows = int(run.sql("select count(*) as n from answers")["n"].item())
    if found != RIGHT / len(data):
        return f"clean accuracy {found} where {RIGHT / len(data)} is right"
    if rows != 3 * len(data):
        return f"{rows} answers stored where {3 * len(data)} were asked"
    return "" if (run.path / "report.html").exists() else "no report was written"


def _installed(package: str) -> bool:
    try:
        return bool(metadata.version(package))
    except metadata.PackageNotFoundError:
        return util.find_spec(package.replace("-", "_")) is not None


def _held(folder: Path) -> str:
    """The size of a folder's files; with a mark where counting them all would take too long."""
    if not folder.is_dir():
        return "not there yet"
    total, began = 0, time.perf_counter()
    for place, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):  # a file that somebody removed meanwhile
                total += os.lstat(os.path.join(place, name)).st_size
        if time.perf_counter() - began > LONGEST_WALK:
            return f"more than {_size(total)}"
    return _size(total)


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def _line(error: BaseException) -> str:
    said = getattr(error, "strerror", None) or str(error)
    return said.strip().splitlines()[0] if said.strip() else type(error).__name__
