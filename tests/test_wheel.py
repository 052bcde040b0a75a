"""The wheel, installed without extras beside nothing but what it requires: every command works, or names what it lacks."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from snellen.extras import PACKAGES

ROOT = Path(__file__).resolve().parents[1]
TOOLS = all(find_spec(name) for name in ("pip", "setuptools"))
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not TOOLS, reason="needs pip and setuptools, to build the wheel")]


@dataclass(frozen=True)
class Installation:
    """A virtual environment with snellen, and a folder to work in."""

    environment: Path
    folder: Path

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Carry out a command of the environment, as a user would who has nothing else."""
        program, *words = shlex.split(command)
        hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        surroundings = {name: value for name, value in os.environ.items() if name not in hidden}
        return subprocess.run(
            [self.environment / "bin" / program, *words],
            cwd=self.folder,
            env={**surroundings, "SNELLEN_HOME": str(self.folder / "home"), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what the repository holds, so that nothing is left in it."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", out, source)
    (file,) = out.iterdir()
    return file


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel in a fresh environment, into which the packages that it requires are linked from this one.

    pip resolves the requirements itself and may fetch nothing, so it fails where one is missing.
    """
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    for one in required([str(line) for line in wheel_requirements(wheel)]):
        for name in {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}:
            if not name.endswith(".pth") and not (packages / name).exists():
                (packages / name).symlink_to(Path(str(one.locate_file(name))).resolve())
    python = environment / "bin" / "python"
    pip("--python", python, "install", "--no-index", wheel)
    pip("--python", python, "check")
    return Installation(environment, tmp_path_factory.mktemp("work"))


def pip(*arguments: str | Path) -> None:
    words = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def wheel_requirements(wheel: Path) -> list[Requirement]:
    """What the wheel needs without extras, by its own metadata."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        text = archive.read(name).decode().partition("\n\n")[0]
    lines = [Requirement(line.partition(": ")[2]) for line in text.splitlines() if line.startswith("Requires-Dist: ")]
    return [line for line in lines if line.marker is None or line.marker.evaluate({"extra": ""})]


def required(lines: list[str]) -> list[metadata.Distribution]:
    """The installed packages that fulfil these requirements, and all that they require in turn."""
    waiting, seen = list(lines), dict.fromkeys(lines)
    packages: dict[str, metadata.Distribution] = {}
    while waiting:
        requirement = Requirement(waiting.pop())
        package = metadata.distribution(requirement.name)
        packages[package.metadata["Name"]] = package
        for line in package.requires or ():
            marker = Requirement(line).marker
            wanted = marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *requirement.extras))
            if wanted and line not in seen:
                seen[line] = None
                waiting.append(line)
    return list(packages.values())


def test_the_wheel_holds_every_file_of_the_source(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("snellen/")}
    files = [path.relative_to(ROOT / "src") for path in (ROOT / "src" / "snellen").rglob("*") if path.is_file()]
    assert packed == {path.as_posix() for path in files if path.suffix != ".pyc"}


def test_only_what_the_wheel_requires_is_there(installation: Installation) -> None:
    code = (
        "import snellen, importlib.util as u; print(snellen.__file__); print([u.find_spec(n) is None for n in {names}])"
    )
    done = installation.run(f"python -c {shlex.quote(code.replace('{names}', str([*PACKAGES, 'pytest', 'captum'])))}")
    file, absent = done.stdout.splitlines()
    assert Path(file).is_relative_to(installation.environment)
    assert absent == str([name != "cv2" for name in (*PACKAGES, "pytest", "captum")])


@pytest.fixture(scope="module")
def workplace(installation: Installation) -> Installation:
    """The installation after the commands that the others build upon: the demo, and photos with boxes."""
    for command in (
        "snellen demo --out demo --quiet",
        f"snellen build phantom --format voc --world '{BOXED}' --out voc",
        f"snellen build phantom --format ovis --world '{BOXED}&frames=4' --out ovis",
    ):
        done = installation.run(command)
        assert done.returncode == 0, done.stderr
    for name in ("plain", "cutmix"):  # by names that do not depend on the world's fingerprint
        (folder,) = installation.folder.glob(f"demo/models/*/{name}")
        (installation.folder / name).symlink_to(folder)
    shutil.copy(next((installation.folder / "plain").glob("*.safetensors")), installation.folder / "net.safetensors")
    (installation.folder / "rows.yaml").write_text("rows: [{name: plain, arch: smallnet, epochs: 1}]")
    shutil.copy(next((installation.folder / "voc").rglob("JPEGImages/*")), installation.folder / "photo.jpg")
    return installation


BOXED = "phantom:test?size=96&n=24&object_size=0.4..0.6"
SMALL = "phantom:test?size=32&n=36"
TESTS = f"--test mixed_same='{SMALL}&background_bias=1' --test mixed_rand='{SMALL}'"
TINY = "--epochs 1 --limit 24 --quiet"
WORKS = {  # what must be in the working folder afterwards
    "snellen --version": "",
    "python -m snellen --help": "",
    "snellen list models": "",
    "snellen list data": "",
    "snellen list distortions": "",
    "snellen list audits": "",
    "snellen build in9 --data voc:voc --classes all --no-balance --out in9 --size 64": "in9/mixed_rand",
    "snellen build iruo --annotations ovis/annotations_test.json --min-clear 0 --out iruo": "iruo/train.csv",
    f"snellen build hts --data '{SMALL}' --per 1 --min-pixels 0 --out hts": "hts/index.csv",
    f"snellen build synthetic --data '{SMALL}' --size 32 --limit 4 --out synthetic": "synthetic/val.csv",
    f"snellen build diffuse --data '{SMALL}' --size 32 --limit 4 --out diffuse": "diffuse/val.csv",
    f"snellen build occluders --data '{SMALL}' --without disc --min-pixels 9 --out objects": "objects/occluders.csv",
    "snellen report demo/run --out page.html": "page.html",
    "snellen report demo/run --out page.md": "page.md",
    "snellen export demo/run --out answers.csv": "answers.csv",
    "snellen export demo/run --format fiftyone --out fo": "fo/samples.json",
    "snellen export demo/run --format hf --out hf": "hf/README.md",
    "snellen report demo/run --format card": "demo/run/card.md",
    "snellen check demo/run --require 'accuracy >= 0' --junit gate.xml --write-baseline base.json": "gate.xml",
    "snellen compare demo/run --page compared.html": "compared.html",
    f"snellen match net.safetensors '{SMALL}' --look 2 --out map.csv": "map.csv",
    "snellen sql demo/run 'select count(*) from answers'": "",
    f"snellen audit plain='plain/*.safetensors' --data '{SMALL}' --out telea"
    " --audits 'interference([background(only_bg_t, inpaint=telea)])'": "telea/report.html",
    "snellen explain net.safetensors photo.jpg --out pictures": "pictures",
    f"snellen explain a='plain/*.safetensors' --data '{SMALL}' --limit 8 --out beside": "beside",
    f"snellen train smallnet --data '{SMALL}' --epochs 1 --out nets --quiet": "nets",
    f"snellen sweep variants smallnet --train a='{SMALL}' {TESTS} {TINY} --out variants": "variants/sweep.html",
    f"snellen sweep amount smallnet --data '{SMALL}' --amounts 12,24 {TESTS} {TINY} --out amount": "amount/sweep.html",
    f"snellen sweep grain smallnet --data '{SMALL}' --by texture --grains 1,2 {TESTS} {TINY} --out grain": "grain/sweep.html",
    f"snellen sweep matrix rows.yaml --data '{SMALL}' --test '{SMALL}' --out matrix --dry-run": "",
    "snellen study plan --gap 0.1 --people 0.85 --images 50": "",
    f"snellen sweep domains plain='plain/*.safetensors' {TESTS} --out domains --quiet": "domains/sweep.html",
    f"snellen search plain='plain/*.safetensors' --data '{SMALL}' --random 10 --evaluations 20 --images 12 --out worst"
    " --quiet": "worst/report.html",
    f"snellen dissect plain='plain/*.safetensors' --data '{SMALL}' --concepts colours --out units --quiet": "units/report.html",
    f"snellen sweep methods plain='plain/*.safetensors' cutmix='cutmix/*.safetensors' {TESTS} --out methods"
    " --limit 24 --quiet": "methods/sweep.html",
    "snellen calibrate --quick --only square_edges --images 24 --out calibration --quiet": "calibration/calibration.html",
}
LACKS = {
    f"snellen audit plain='plain/*.safetensors' --data '{SMALL}' --out on-ray --engine ray": "ray",
    f"snellen train smallnet --data '{SMALL}' --epochs 1 --out logged --log tensorboard": "tensorboard",
    f"snellen train smallnet --data '{SMALL}' --epochs 1 --out logged --log mlflow": "mlflow",
    f"snellen study create '{SMALL}' --out study": "starlette",
    "snellen study serve study": "starlette",
    "snellen study status study": "starlette",
    "snellen study export study --out answers": "starlette",
    "snellen study backup study --out copy.sqlite": "starlette",
    "snellen study simulate study": "starlette",
    "snellen curate in9:in9": "starlette",
}


@pytest.mark.parametrize("command", WORKS)
def test_a_command_works_without_extras(command: str, workplace: Installation) -> None:
    done = workplace.run(command)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    place = workplace.folder / WORKS[command]
    assert any(place.iterdir()) if place.is_dir() else place.stat().st_size


@pytest.mark.parametrize("command", LACKS)
def test_a_command_that_needs_an_extra_names_it(command: str, workplace: Installation) -> None:
    done = workplace.run(command)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    assert last.endswith(
        f"needs {PACKAGES[LACKS[command]].title}; pip install '{PACKAGES[LACKS[command]].requirement}'"
    )
    assert "Traceback" not in done.stderr


def test_the_doctor_is_content_and_names_the_extras(installation: Installation) -> None:
    done = installation.run("snellen doctor")
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("\nready\n")
    for package in PACKAGES.values():
        if "[" in package.requirement:
            lacking = [line for line in done.stdout.splitlines() if f": pip install '{package.requirement}'" in line]
            assert any(package.distribution in re.split(r"[ ,:]+", line.partition("missing ")[2]) for line in lacking)


def test_no_command_is_left_out() -> None:
    import typer

    from snellen.cli import app

    commands = set()
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        commands |= {f"snellen {name} {one}" for one in getattr(command, "commands", {})} or {f"snellen {name}"}
    known = [*WORKS, *LACKS, "snellen doctor", "snellen demo", "snellen build phantom"]
    assert {command for command in commands if not any(one.startswith(command) for one in known)} == set()
