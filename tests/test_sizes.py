"""Small files and short signatures: what keeps the source readable is held by numbers."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "snellen"
FILES = sorted(SOURCE.rglob("*.py"))
MOST_LINES, MEDIAN_LINES, MOST_PARAMETERS = 350, 100, 6
PUBLIC = {  # signatures that people outside call, formulas of `measure` and kernels
    "distort/draw_kernels.py",  # a kernel takes its pointers one by one
    "distort/photometric/kernel.py",
    "exam/run.py",
    "explain/iba_maps.py",
    "models/model.py",
    "search/searches.py",
    "train/mixing/batch.py",
}


def functions_in(file: Path) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef))


def parameters_of(function: ast.FunctionDef) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return sum(one.arg not in ("self", "cls") for one in named)


def test_files_are_short() -> None:
    lines = {file: len(file.read_text().splitlines()) for file in FILES}
    assert {str(file): count for file, count in lines.items() if count > MOST_LINES} == {}
    assert statistics.median(lines.values()) <= MEDIAN_LINES


def test_functions_take_few_parameters() -> None:
    """More than six only where typer reads them, in `measure`, in public signatures and in kernels."""
    wrong = [
        f"{place}: {one.name} takes {parameters_of(one)}"
        for file in FILES
        for one in functions_in(file)
        if parameters_of(one) > MOST_PARAMETERS
        and (place := file.relative_to(SOURCE).as_posix()) not in PUBLIC
        and file.relative_to(SOURCE).parts[0] not in ("cli", "measure")
    ]
    assert not wrong, "\n".join(wrong)
