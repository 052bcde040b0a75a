"""The first moments of a command: Ctrl-C while packages are imported, and packages that are not installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from snellen.cli import main
from snellen.extras import REQUIRED

ROOT = Path(__file__).parents[1]
INTERRUPT = """
import os, signal, sys

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
"""
MISSING = "import sys\nsys.modules[{module!r}] = None\n"


def started(tmp_path: Path, before: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a process that first does something else."""
    code = f"{before}\nimport sys\nsys.argv[1:] = {list(words)!r}\nfrom snellen.__main__ import main\nmain()\n"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("snellen.errors", "list"),
        ("difflib", "list"),
        ("typer", "list"),
        ("snellen.cli.sweep", "list"),
        ("torch", "doctor"),
    ],
)
def test_ctrl_c_while_packages_are_imported_ends_in_one_line(tmp_path: Path, module: str, command: str) -> None:
    ended = started(tmp_path, INTERRUPT.format(module=module), command)
    assert (ended.returncode, ended.stderr) == (130, "stopped; the same command continues where it was\n")


@pytest.mark.parametrize("module", ["typer", "yaml", "numpy", "duckdb", "PIL"])
def test_a_required_package_that_is_missing_is_named(tmp_path: Path, module: str) -> None:
    settings = tmp_path / "audit.yaml"
    settings.write_text("data: phantom:test?size=16&n=4\nmodels: [observer:shape]\nlimit: 4\n")
    ended = started(tmp_path, MISSING.format(module=module), "audit", "--config", str(settings), "--dry-run")
    words = f"error: snellen needs the package '{REQUIRED[module]}', which is not installed; pip install {REQUIRED[module]}\n"
    if module == "duckdb":  # which only SQL needs
        assert ended.returncode == 0
        return
    assert (ended.returncode, ended.stderr) == (2, words)


def test_another_module_that_is_missing_is_a_defect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(kind: str) -> None:
        raise ModuleNotFoundError("No module named 'unheard_of'", name="unheard_of")

    monkeypatch.setattr("snellen.catalogue.listing", fail)
    with pytest.raises(SystemExit) as stopped:
        main(["list", "models"])
    assert stopped.value.code == 3
    assert "defect of snellen" in capsys.readouterr().err


def test_every_dependency_is_known_by_the_name_it_is_imported_by() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(REQUIRED.values()) == {re.split("[<>=]", line)[0] for line in project["dependencies"]}
    assert project["scripts"]["snellen"] == "snellen.__main__:main"
