"""A copy of the repository to put faults into; the repository itself is never changed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from mutation.mutant import Mutant

PROBE = '''"""Writes down which test runs which mutant's line; a process that a test starts writes down the same test."""

import os

SEEN = set()


def hit(mark):
    seen = (os.environ.get("PYTEST_CURRENT_TEST", ""), mark)
    if seen not in SEEN:
        SEEN.add(seen)
        with open({file!r}, "a", encoding="utf-8") as file:
            file.write("\\t".join((seen[1], seen[0])) + "\\n")
'''


def copy_tree(root: Path, place: Path) -> Path:
    """The files that git knows, with their times, so that compiled files are of use."""
    shutil.rmtree(place, ignore_errors=True)
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=root, check=True, capture_output=True, text=True).stdout.splitlines():
        if (root / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, place / name)
    return place


def environment(tree: Path, root: Path) -> dict[str, str]:
    """In which every process of a test sees the copy: one thread, nothing compiled is kept, the real data where they are."""
    shared = os.environ.get("SNELLEN_SHARED", str(root.parent / "shared"))
    own = {
        "PYTHONPATH": str(tree / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "SNELLEN_SHARED": shared,
    }
    return {**os.environ, **own}


def place_probes(tree: Path, mutants: Sequence[Mutant], notes: Path) -> None:
    """Notes in the copy, before the statement of every mutant, and at the start of every function of a file where one is
    outside of functions: it counts as run by whatever uses the file."""
    (tree / "src" / "mutant_probe.py").write_text(PROBE.format(file=str(notes)), encoding="utf-8")
    by_file: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutants:
        by_file[mutant.file].append(mutant)
    for file, own in by_file.items():
        path = tree / file
        module = ast.parse(path.read_text(encoding="utf-8"))
        lines = {mutant.statement for mutant in own if mutant.scope}
        _Probes(file, lines, any(not mutant.scope for mutant in own)).visit(module)
        after_future = next((n for n, node in enumerate(module.body) if not _is_head(node)), len(module.body))
        module.body.insert(after_future, ast.parse("import mutant_probe").body[0])
        path.write_text(ast.unparse(ast.fix_missing_locations(module)) + "\n", encoding="utf-8")


def _is_head(node: ast.stmt) -> bool:
    """A module's docstring, or an import from `__future__`, which come first."""
    future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    return future or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


class _Probes(ast.NodeTransformer):
    """Puts notes before the statements of some lines and, where wanted, at the start of every function."""

    def __init__(self, file: str, lines: set[int], functions: bool) -> None:
        self.file, self.lines, self.functions = file, lines, functions

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, [part for child in block for part in self._with_note(child)])
        if self.functions and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.body.insert(1 if ast.get_docstring(node) else 0, _note(f"{self.file}:"))
        return node

    def _with_note(self, node: ast.stmt) -> list[ast.stmt]:
        wanted = isinstance(node, ast.stmt) and getattr(node, "lineno", 0) in self.lines and not _is_text(node)
        return [_note(f"{self.file}:{node.lineno}"), node] if wanted else [node]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _note(mark: str) -> ast.stmt:
    return ast.parse(f"mutant_probe.hit({mark!r})").body[0]
