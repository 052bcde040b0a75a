"""How-to pages as a reader would follow them: their code is put into a copy of the tree, their commands are run there.

A block of Python or Markdown is one or several parts. Each begins with a comment that says where it goes:

    # src/snellen/distort/curtain.py (new)                  what follows is the file
    # src/snellen/distort/language.py, below: "mix": Mix,   what follows goes below that line, which must be there once
    # src/snellen/models/kinds.py, above: KINDS = {         the same, above it
    # src/snellen/audits/shape.py, instead of: names = ()   the same, in its place

A block of `sh` is a script for the root of the repository; each of its commands must end with exit code 0.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIED = (
    *("src", "tests", "docs", "examples", "benchmarks"),
    *("pyproject.toml", "README.md", "CONTRIBUTING.md", "Makefile"),
)
_BLOCK = re.compile(r"^```(python|markdown|sh)\n(.*?)^```$", re.S | re.M)
_PART = re.compile(r"^# (?P<path>[\w./-]+\.\w+)(?: \(new\)|, (?P<side>above|below|instead of): (?P<line>.+))\n", re.M)


@dataclass(frozen=True)
class Step:
    """A new file, content above, below or instead of a line of a file, or a script (`path` empty)."""

    path: str
    content: str
    line: str = ""
    side: str = ""


def steps_of(page: str) -> list[Step]:
    """The steps of a page, in order; a block of Python or Markdown that does not say where it goes is an error of the page."""
    steps = []
    for language, block in _BLOCK.findall(page):
        if language == "sh":
            steps.append(Step("", block))
            continue
        parts = list(_PART.finditer(block))
        if not parts or parts[0].start():
            raise ValueError(f"this block does not say where it goes: {block.partition(chr(10))[0]!r}")
        ends = [part.start() for part in parts[1:]] + [len(block)]
        for part, end in zip(parts, ends):
            steps.append(Step(part["path"], block[part.end() : end], part["line"] or "", part["side"] or ""))
    return steps


def copy_tree(to: Path) -> Path:
    """A copy of what a contributor edits, without pictures."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.png"))
        else:
            shutil.copy(source, to / name)
    return to


def content_of(tree: Path) -> dict[str, bytes]:
    """The files that belong to the repository, by path; not what commands leave beside them, such as run folders."""
    folders = [tree / name for name in COPIED if (tree / name).is_dir()]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.relative_to(tree).as_posix(): path.read_bytes() for path in files}


def follow(step: Step, tree: Path) -> None:
    """Carry one step out in the tree."""
    file = tree / step.path
    if not step.path:
        run(step.content, tree)
    elif not step.line:
        assert not file.exists(), f"{step.path} is there already; the page calls it new"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(step.content)
    else:
        lines = file.read_text().splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if line.strip() == step.line.strip()]
        assert len(places) == 1, f"{step.path} has the line {step.line!r} {len(places)} times"
        start = places[0] + (step.side == "below")
        lines[start : places[0] + (step.side != "above")] = [step.content]
        file.write_text("".join(lines))


def run(script: str, tree: Path) -> None:
    """Run a script with this Python first on the path, and the tree's own source; the first command that fails ends it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    compiled = {"PYTHONPYCACHEPREFIX": str(tree / "compiled")}  # once for all commands, and not beside what is counted
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(tree / "src"), **compiled}
    ended = subprocess.run(["sh", "-ex", "-c", script], cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{ended.stdout[-4000:]}\n{ended.stderr[-4000:]}"
