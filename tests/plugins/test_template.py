"""The template: examples/plugin, installed by pip as users do, passes its own tests and works in the commands of its page."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = all(find_spec(name) for name in ("pip", "setuptools"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TOOLS, reason="needs pip and setuptools, to install the template"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has put a copy of the template, without the network."""
    source, site = tmp_path_factory.mktemp("source") / "plugin", tmp_path_factory.mktemp("site")
    shutil.copytree(
        ROOT / "examples" / "plugin", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    )
    how = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    done = run("-m", "pip", "install", *how, "--target", site, source, site=None, cwd=source)
    assert done.returncode == 0, done.stdout + done.stderr
    return site


def run(*words: str | Path, site: Path | None, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Python with snellen, and with what is installed in a folder."""
    path = os.pathsep.join(map(str, filter(None, [site, ROOT / "src", *sys.path])))
    environment = {**os.environ, "PYTHONPATH": path, "SNELLEN_HOME": str(cwd / "home"), "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True)


def test_its_own_tests_pass(site: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "plugin" / "tests", tmp_path / "tests")
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", site=site, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


def test_the_commands_of_its_page_do_what_they_say(site: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs/contribute/plugins.md").read_text()
    lines = re.findall(r"^    (snellen .*(?:\\\n.*)*)", page, re.M)
    wanted = [line for line in lines if "--plugin" not in line]
    assert len(wanted) >= 2
    for line in wanted:
        done = run("-m", *shlex.split(line.replace("\\\n", " ")), site=site, cwd=tmp_path)
        assert done.returncode == 0, line + done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    findings = json.loads((folder / "findings.json").read_text())["findings"]
    losses = {finding["facts"]["every"]: finding["value"] for finding in findings if finding["name"] == "row_loss"}
    assert losses.keys() == {2, 8}
    assert 0 < losses[8] < losses[2]  # the fewer rows are black, the less a mean moves
    assert "Black rows" in (folder / "report.html").read_text()


def test_lists_name_the_package_and_its_version(site: Path, tmp_path: Path) -> None:
    for kind, text in (
        ("models", "threshold:0.5"),
        ("data", "shades:200"),
        ("distortions", "scanlines(every=4)"),
        ("audits", "row_loss(every=[2, 8])"),
    ):
        done = run("-m", "snellen", "list", kind, "--json", site=site, cwd=tmp_path)
        rows = [row for row in json.loads(done.stdout) if row["from"] != "snellen"]
        assert [(row["text"], row["from"]) for row in rows] == [(text, "snellen-example 1.0")]
        assert done.stderr == ""


def test_a_report_is_written_again_where_the_package_is_gone(site: Path, tmp_path: Path) -> None:
    line = "snellen audit threshold:0.5 --data shades:40 --audits row_loss --out run --quiet"
    assert run("-m", *shlex.split(line), site=site, cwd=tmp_path).returncode == 0
    done = run("-m", "snellen", "report", "run", site=None, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Accuracy lost to 1 black row of 8" in (tmp_path / "run" / "report.html").read_text()
    refused = run("-m", *shlex.split(line), site=None, cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: unknown audit 'row_loss'")
