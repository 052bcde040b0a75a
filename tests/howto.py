"""How-to pages as a reader would follow them: their code blocks are put into a copy of the tree, their commands are run.

A block of Python begins with a comment that says where it goes:

    # src/snellen/distort/curtain.py (new)                  the rest of the block is the file
    # src/snellen/distort/language.py, below: "mix": Mix,   the rest goes below that line, which must be there once

A `sh` block holds commands for the root of the repository; each must end with exit code 0.
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
COPIED = ("src", "tests", "docs", "examples", "pyproject.toml", "README.md")
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.S | re.M)
_NEW = re.compile(r"# (\S+) \(new\)")
_BELOW = re.compile(r"# (\S+), below: (.+)")


@dataclass(frozen=True)
class Step:
    """One block: a new file, lines below a line of a file, or commands (`path` empty)."""

    path: str
    content: str
    below: str = ""


def steps_of(page: str) -> list[Step]:
    """The blocks of a page, in order; a block of Python that does not say where it goes is an error of the page."""
    steps = []
    for language, block in _BLOCK.findall(page):
        if language == "sh":
            steps.append(Step("", block))
            continue
        head, _, rest = block.partition("\n")
        if match := _NEW.fullmatch(head):
            steps.append(Step(match[1], rest))
        elif match := _BELOW.fullmatch(head):
            steps.append(Step(match[1], rest, match[2].strip()))
        else:
            raise ValueError(f"this block does not say where it goes: {head!r}")
    return steps


def copy_tree(to: Path) -> Path:
    """A copy of what a contributor edits."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.png"))
        else:
            shutil.copy(source, to / name)
    return to


def follow(step: Step, tree: Path) -> None:
    """Carry one step out in the tree."""
    if not step.path:
        for line in step.content.strip().splitlines():
            _run(line, tree)
        return
    file = tree / step.path
    if not step.below:
        assert not file.exists(), f"{step.path} is there already; the page calls it new"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(step.content)
        return
    lines = file.read_text().splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.strip() == step.below]
    assert len(places) == 1, f"{step.path} has the line {step.below!r} {len(places)} times"
    lines.insert(places[0] + 1, step.content)
    file.write_text("".join(lines))


def _run(line: str, tree: Path) -> None:
    """Run a command with this Python first on the path, and the tree's own source."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(line, shell=True, cwd=tree, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
