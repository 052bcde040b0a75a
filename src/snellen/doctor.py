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
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from snellen.engine.keep.run_json import PACKAGES as RECORDED
from snellen.errors import UserError
from snellen.extras import PACKAGES
from snellen.files.plain import snellen_home
from snellen.version import __version__

WRITE_BYTES = 32 * 2**20  # bytes, to measure the speed of writing
LEAST_DISK = 2**30  # bytes free, below which a run may not fit
LONGEST_WALK = 2.0  # seconds spent on the size of a cache
DATA = "phantom:test?size=32&n=90"
REINSTALL = "install torch again: see pytorch.org"
RIGHT = 81  # of the 90 phantoms; the self-test's model is wrong on every tenth


@dataclass(frozen=True)
class Problem:
    """What is wrong on this machine, and what to do."""

    text: str
    advice: str


@dataclass(frozen=True)
class Health:
    """What this machine has, by section (name → value in words), and what is wrong."""

    sections: dict[str, dict[str, str]]
    problems: list[Problem]

    @property
    def ready(self) -> bool:
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        return {"ready": self.ready, **self.sections, "problems": [asdict(problem) for problem in self.problems]}


def doctor() -> Health:
    """Look at versions, devices, memory, disk, caches and extras, then audit a model whose answers are known."""
    sections: dict[str, dict[str, str]] = {}
    problems: list[Problem] = []
    for name, look in SECTIONS.items():
        sections[name], wrong = look()
        problems += wrong
    return Health(sections, problems)


DoctorSection = tuple[dict[str, str], list[Problem]]


def versions() -> DoctorSection:
    """Of Python, snellen and the packages that it always needs."""
    lines = {"snellen": __version__, "python": platform.python_version(), "system": platform.platform()}
    missing = []
    needs = requirements().get("") or {name: name for name in RECORDED}  # run from its source folder
    for name, requirement in needs.items():
        lines[name] = _version(name)
        if lines[name] == "missing":
            missing.append(Problem(f"the package {name} is missing", f"pip install '{requirement}'"))
    return lines, missing


def devices() -> DoctorSection:
    """Where models can run; each is given a small product to compute."""
    try:
        import torch
    except Exception as error:  # a broken installation raises anything, from OSError to RuntimeError
        return {}, [Problem(f"torch cannot be imported ({_line(error)})", REINSTALL)]
    lines = {"cpu": f"{os.cpu_count()} cores, {torch.get_num_threads()} threads"}
    for i in range(torch.cuda.device_count()):
        gpu = torch.cuda.get_device_properties(i)
        lines[f"cuda:{i}"] = f"{gpu.name}, {_size(gpu.total_memory)}"
    if torch.backends.mps.is_available():
        lines["mps"] = "Apple GPU"
    problems = []
    for device in lines:
        try:
            ones = torch.ones((64, 64), device=device)
            works = bool((ones @ ones == 64).all())
        except Exception as error:
            works, lines[device] = False, f"{lines[device]}, fails: {_line(error)}"
        if not works:
            advice = "pass --device cpu, or repair the driver" if device != "cpu" else REINSTALL
            problems.append(Problem(f"the device {device} does not compute", advice))
    return lines, problems


def memory() -> DoctorSection:
    """Of the machine, and what of it is free."""
    lines = {}
    for name, word in (("total", "SC_PHYS_PAGES"), ("free", "SC_AVPHYS_PAGES")):
        if word in os.sysconf_names:
            lines[name] = _size(os.sysconf(word) * os.sysconf("SC_PAGE_SIZE"))
    return lines, []


def disk() -> DoctorSection:
    """Free space and speed of writing in the working folder, where runs go."""
    folder = Path.cwd()
    free = shutil.disk_usage(folder).free
    lines = {"folder": str(folder), "free": _size(free)}
    problems = []
    if free < LEAST_DISK:
        problems.append(Problem(f"only {_size(free)} are free in {folder}", "make room, or choose --out elsewhere"))
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            block, began = os.urandom(2**20), time.perf_counter()
            for _ in range(WRITE_BYTES // len(block)):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
            lines["writing"] = f"{_size(WRITE_BYTES / (time.perf_counter() - began))}/s"
    except OSError as error:
        problems.append(Problem(f"{folder} cannot be written ({_line(error)})", "go to another folder or pass --out"))
    return lines, problems


def caches() -> DoctorSection:
    """Where weights and cards are kept, and how much there is."""
    own = snellen_home()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folders = {
        "SNELLEN_HOME": own,
        "HF_HOME": Path(os.environ.get("HF_HOME") or cache / "huggingface").expanduser(),
        "TORCH_HOME": Path(os.environ.get("TORCH_HOME") or cache / "torch").expanduser(),
    }
    lines = {name: f"{folder}, {_folder_size(folder)}" for name, folder in folders.items()}
    try:
        own.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=own):
            pass
    except OSError as error:
        advice = "set SNELLEN_HOME to a folder that you may write"
        return lines, [Problem(f"SNELLEN_HOME, {own}, cannot be written ({_line(error)})", advice)]
    return lines, []


def extras() -> DoctorSection:
    """Optional packages: installed, or the command that installs them. Not having them is no problem."""
    needs = {extra: packages for extra, packages in requirements().items() if extra not in ("", "dev")}
    if not needs:
        return {"unknown": "snellen runs from its source folder; pip install -e . lists its extras"}, []
    lines = {}
    for extra, packages in needs.items():
        missing = [name for name in packages if _version(name) == "missing"]
        lines[extra] = f"missing {', '.join(missing)}: pip install 'snellen[{extra}]'" if missing else "installed"
    return lines, []


def self_test() -> DoctorSection:
    """An audit of a model with known answers on the phantom world, into a temporary folder."""
    advice = "run `snellen audit` on your data to see more, and report it with this output"
    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="snellen-doctor-") as folder:
            wrong = _audit_known_model(Path(folder))
    except UserError as error:
        wrong = str(error)
    except Exception as error:  # whatever it is, the user should read it beside the versions
        wrong = f"{type(error).__name__}: {_line(error)}"
    lines = {"audit": f"{'failed' if wrong else 'as expected'} ({time.perf_counter() - began:.1f} s)"}
    return lines, [Problem(f"the self-test failed: {wrong}", advice)] if wrong else []


SECTIONS: dict[str, Callable[[], DoctorSection]] = {
    "versions": versions,
    "devices": devices,
    "memory": memory,
    "disk": disk,
    "caches": caches,
    "extras": extras,
    "self_test": self_test,
}


def requirements() -> dict[str, dict[str, str]]:
    """By extra ("" for what is always needed), the packages (name → requirement) that the installed snellen lists."""
    try:
        listed = metadata.requires("snellen") or []
    except metadata.PackageNotFoundError:
        return {}
    packages: dict[str, dict[str, str]] = {}
    for line in listed:
        requirement, _, marker = (part.strip() for part in line.partition(";"))
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        name = re.match(r"[\w.-]+", requirement)
        assert name, f"a requirement without a name: {line}"
        packages.setdefault(extra[1] if extra else "", {})[name[0]] = requirement
    return packages


def _audit_known_model(folder: Path) -> str:
    """What differs from what must come out; empty where nothing does."""
    from snellen.data import load_data
    from snellen.exam.auditing import audit
    from snellen.models import from_callable

    data = load_data(DATA)
    assert data.read_together is not None
    images, labels = data.read_together(range(len(data))).images, data.samples.labels
    classes = len(data.classes)
    answers = {
        image.tobytes(): (label + (i % 10 == 0)) % classes for i, (image, label) in enumerate(zip(images, labels))
    }

    def remembers(batch: np.ndarray) -> np.ndarray:
        return np.eye(classes)[[answers.get(image.tobytes(), 0) for image in batch]]

    model = from_callable(remembers, data.classes, size=32, name="remembers", version="1")
    run = audit(model, data, "occlusion(areas=[0.3], fills=[black])", folder / "run", quiet=True)
    accuracy = next(finding.value for finding in run.stored_findings() if finding.name == "accuracy")
    rows = int(run.sql("select count(*) as n from answers")["n"].item())
    if accuracy != RIGHT / len(data):
        return f"clean accuracy {accuracy} where {RIGHT / len(data)} is right"
    if rows != 3 * len(data):
        return f"{rows} answers stored where {3 * len(data)} were asked"
    return "" if (run.path / "report.html").exists() else "no report was written"


def _version(distribution: str) -> str:
    """Of a package; where its module comes from another one (opencv-python, mlflow-skinny), that it is installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        modules = {package.distribution: module for module, package in PACKAGES.items()}
        module = modules.get(distribution, distribution.replace("-", "_"))
        return "missing" if find_spec(module) is None else "installed, from another package"


def _folder_size(folder: Path) -> str:
    """The size of a folder's files; with a mark where counting them all would take too long."""
    if not folder.is_dir():
        return "not there yet"
    total, began = 0, time.perf_counter()
    for place, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):  # a file that was removed meanwhile
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
    text = (getattr(error, "strerror", None) or str(error)).strip()
    return text.splitlines()[0] if text else type(error).__name__
