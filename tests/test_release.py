"""What a release is: a wheel and an sdist that twine finds no fault with, hold the source, and work where nothing else is."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import snellen

ROOT = Path(__file__).resolve().parents[1]
pytest.importorskip("build")
pytest.importorskip("twine")
ALONE = ("env", "-u", "PYTHONPATH")
BUILT_HERE = ("--no-build-isolation", "--no-cache-dir")


def carry_out(*words: str | Path, place: Path) -> str:
    done = subprocess.run([str(word) for word in words], cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, built from a copy of what the repository holds: the wheel from the sdist, as an index's users would."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    carry_out(
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--skip-dependency-check",
        "--outdir",
        out,
        source,
        place=source,
    )
    return out


def only(release: Path, ending: str) -> Path:
    (file,) = release.glob(f"*{ending}")
    return file


@pytest.mark.slow
def test_twine_finds_no_fault(release: Path) -> None:
    files = [only(release, ".whl"), only(release, ".tar.gz")]
    shown = carry_out(sys.executable, "-m", "twine", "check", "--strict", *files, place=release)
    assert shown.count("PASSED") == 2


@pytest.mark.slow
def test_both_hold_every_file_of_the_source_and_the_licence(release: Path) -> None:
    files = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/snellen").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    with zipfile.ZipFile(only(release, ".whl")) as wheel:
        packed = set(wheel.namelist())
    assert files == {name for name in packed if name.startswith("snellen/")}
    assert any(name.endswith("licenses/LICENSE") for name in packed)
    with tarfile.open(only(release, ".tar.gz")) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert {f"src/{name}" for name in files} <= inside
    assert {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"} <= inside


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".whl", ".tar.gz"])
def test_both_work_in_a_fresh_environment(release: Path, tmp_path: Path, ending: str) -> None:
    """Installed alone, beside the libraries of this environment; the source tree is out of reach.

    pip builds the sdist itself and may fetch nothing, so the fresh environment has setuptools and no other package by then.
    """
    environment = tmp_path / "environment"
    carry_out(sys.executable, "-m", "venv", "--without-pip", environment, place=tmp_path)
    (packages,) = environment.glob("lib/python*/site-packages")
    libraries = Path(pytest.__file__).resolve().parents[1]
    for tool in (*libraries.glob("setuptools*"), libraries / "_distutils_hack"):
        (packages / tool.name).symlink_to(tool)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", environment / "bin/python"]
    carry_out(*ALONE, *pip, "install", "--no-deps", "--no-index", *BUILT_HERE, only(release, ending), place=tmp_path)
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    program = environment / "bin/snellen"
    version = carry_out(*ALONE, program, "--version", place=tmp_path).strip()
    assert version.endswith(snellen.__version__)
    command = [
        "audit",
        "observer:texture",
        "--data",
        "phantom:test?size=16&n=12",
        "--audits",
        "interference([shuffle(2)])",
    ]
    carry_out(*ALONE, program, *command, "--out", tmp_path / "run", "--quiet", place=tmp_path)
    assert (tmp_path / "run/report.html").stat().st_size > 10_000
    where = carry_out(
        *ALONE, environment / "bin/python", "-c", "import snellen; print(snellen.__file__)", place=tmp_path
    )
    assert Path(where.strip()).is_relative_to(environment)


def test_the_version_is_that_of_the_changelog_and_the_notes() -> None:
    """Between releases there is a development version, which has no notes; a release has its section and its notes."""
    changelog = (ROOT / "CHANGELOG.md").read_text()
    released = re.findall(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2})$", changelog, re.M)
    notes = re.findall(
        r"^## (\d+\.\d+\.\d+), (\d{4}-\d{2}-\d{2})$", (ROOT / "docs/understanding/releases.md").read_text(), re.M
    )
    assert notes == released
    assert changelog.index("## Unreleased") < changelog.index(f"## {released[0][0]}")
    assert released == sorted(released, key=lambda one: [-int(part) for part in one[0].split(".")])
    assert snellen.__version__ == released[0][0] or ".dev" in snellen.__version__
