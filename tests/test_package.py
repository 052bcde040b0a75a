"""The package: every public name, every import declared, every missing package named, and a wheel that works alone."""

from __future__ import annotations

import ast
import fnmatch
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import snellen
from snellen.cli import main
from snellen.errors import UserError
from snellen.extras import PACKAGES, import_package

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "snellen"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
WEB = {"starlette", "uvicorn", "sqlalchemy"}  # which `snellen.web.require` names before a module of web/ imports them
INSIDE_RAY = SOURCE / "engine" / "ask" / "actor.py"  # only a Ray worker runs it
DATA = "phantom:test?size=32&n=24"


def rooms() -> list[str]:
    """The packages of the source folder that Python users call: all but the command line."""
    return sorted(path.parent.name for path in SOURCE.glob("*/__init__.py") if path.parent.name != "cli")


def distribution(requirement: str) -> str:
    """The name in 'Name[extra]>=1', as PyPI compares names."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()  # type: ignore[index]


def test_every_room_is_a_name_of_snellen() -> None:
    code = f"import snellen; print([getattr(snellen, room).__name__ for room in {rooms()}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == str([f"snellen.{room}" for room in rooms()]), done.stderr
    assert {*rooms(), "audit", "load_run", "__version__"} <= {*dir(snellen)}
    assert {*rooms(), "audit", "load_run", "__version__"} <= {*snellen.__all__}
    with pytest.raises(AttributeError, match="module 'snellen' has no attribute 'attic'"):
        _ = snellen.attic


def test_the_readme_has_the_two_commands_to_paste_and_ci_runs_the_tests() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert {"    make demo", "    make test"} <= set(lines)
    assert "make test" in (ROOT / ".ci" / "run").read_text().splitlines()
    rules = re.findall(r"^(\w+): ", (ROOT / "Makefile").read_text(), re.M)
    assert {"demo", "test"} <= set(rules)


def test_every_imported_package_is_a_dependency() -> None:
    """Or is imported by `import_package`, which says how to install it, or in web/ behind `require`, which calls that."""
    needed = {distribution(line) for line in PROJECT["project"]["dependencies"]}
    providers = {name: {distribution(one) for one in them} for name, them in metadata.packages_distributions().items()}
    providers["cv2"] = {PACKAGES["cv2"].distribution}  # a machine may have another OpenCV
    undeclared = {
        (name, str(file.relative_to(SOURCE)))
        for file in SOURCE.rglob("*.py")
        for name in import_names(file)
        if name not in sys.stdlib_module_names
        and name != "snellen"
        and not needed & providers.get(name, set())
        and not (file.is_relative_to(SOURCE / "web") and name in WEB)
    }
    # Imported where `runs_triton`; torch brings it.
    kernels = ("distort/draw_kernels.py", "distort/photometric/kernel.py")
    assert undeclared == {("ray", str(INSIDE_RAY.relative_to(SOURCE))), *(("triton", file) for file in kernels)}


def import_names(file: Path) -> set[str]:
    """The first words of all that a file imports, at its top or later."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return {name.partition(".")[0] for name in plain | {str(n.module) for n in nodes if isinstance(n, ast.ImportFrom)}}


def test_every_extra_brings_a_package_that_something_imports() -> None:
    offered = {
        (f"snellen[{extra}]", distribution(line)) for extra in EXTRAS if extra != "dev" for line in EXTRAS[extra]
    }
    assert offered == {(one.requirement, one.distribution) for one in PACKAGES.values() if "[" in one.requirement}
    always = [one.requirement for one in PACKAGES.values() if "[" not in one.requirement]
    assert {*always} <= {*PROJECT["project"]["dependencies"]}
    used = {name for file in SOURCE.rglob("*.py") for name in re.findall(r'import_package\("(\w+)"', file.read_text())}
    assert used == {*PACKAGES}


def test_every_file_that_is_read_is_packaged() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["snellen"]
    files = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.*") if path.suffix not in (".py", ".pyc")]
    assert len(files) > 5
    assert [file for file in files if not any(fnmatch.fnmatch(f"./{file}", f"*{one}") for one in patterns)] == []


@pytest.mark.parametrize("name", PACKAGES)
def test_a_missing_package_is_named_with_its_install_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    package = PACKAGES[name]
    with pytest.raises(UserError) as caught:
        import_package(name, "this")
    assert str(caught.value) == f"this needs {package.title}; pip install '{package.requirement}'"


def test_a_package_that_is_there_but_broken_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ray.py").write_text("import a_part_of_ray")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    with pytest.raises(ModuleNotFoundError, match="a_part_of_ray"):
        import_package("ray", "this")


BUILD = "build in9 --data voc:voc --classes all --out in9 --size 48"
AUDIT = f"audit observer:background --data '{DATA}' --quiet"
TRAIN = f"train smallnet --data '{DATA}' --out nets --epochs 1"
INPAINTED = "--audits 'interference([background(only_bg_t, inpaint=telea)])'"
MISSING = {
    BUILD: ("cv2", "build in9 without --masks"),
    f"{BUILD} --workers 1": ("cv2", "build in9 without --masks"),
    f"{BUILD} --masks python:whole_box.py:model --inpaint ns": ("cv2", "build in9 --inpaint ns"),
    f"{AUDIT} {INPAINTED} --out inpainted": ("cv2", "inpaint=telea"),
    f"{AUDIT} --engine ray --out on-ray": ("ray", "--engine ray"),
    f"{TRAIN} --log tensorboard": ("tensorboard", "--log tensorboard"),
    f"{TRAIN} --log mlflow": ("mlflow", "--log mlflow"),
    TRAIN: ("accelerate", "training in several processes"),
}
WHOLE_BOX = """
import numpy as np

def model():
    def mask(image, box):
        inside = np.zeros(image.shape[:2], bool)
        x0, y0, x1, y1 = box.astype(int)
        inside[y0:y1, x0:x1] = True
        return inside
    return mask
"""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with photos that have boxes, and a model that makes masks."""
    folder = tmp_path_factory.mktemp("workshop")
    assert run(f"build phantom --format voc --out {folder}/voc --limit 24 --quiet") == 0
    (folder / "whole_box.py").write_text(WHOLE_BOX)
    return folder


def run(command: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(shlex.split(command))
    return int(caught.value.code or 0)


@pytest.mark.parametrize("command", MISSING)
def test_a_command_without_its_package_says_so_in_one_line(
    command: str, workshop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, use = MISSING[command]
    monkeypatch.chdir(workshop)
    monkeypatch.setitem(sys.modules, name, None)
    if name == "accelerate":
        monkeypatch.setenv("WORLD_SIZE", "2")
    assert run(command) == 2
    package = PACKAGES[name]
    assert capsys.readouterr().err == f"error: {use} needs {package.title}; pip install '{package.requirement}'\n"
    assert not (workshop / "in9").exists()
