"""Faults that a reader once put in and no test noticed; they are asked about in every run, beside those that are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mutation.mutant import Mutant


class NamedFault(NamedTuple):
    """A text of a file under src/snellen, which is there once, and what stands there instead."""

    file: str
    before: str
    after: str


NAMED = (
    NamedFault("engine/requests/cell.py", "cell.seed, facts]", "cell.seed]"),
    NamedFault("engine/requests/cell.py", "precision, settings.keep]", "precision]"),
    NamedFault("engine/requests/cell.py", "question = [shown, subject", "question = [subject"),
    NamedFault("engine/requests/map.py", "key_of([self.key, shown])", "key_of([self.key])"),
    NamedFault("engine/requests/map.py", "settings.precision_of(compiled=False)]", "]"),
    NamedFault("search/edit_search.py", "[transformation.name, *transformation.levels]", "[transformation.name]"),
    NamedFault("search/edit_search.py", "return 1000 * seed + self.restart", "return 1000 * seed"),
    NamedFault("search/edit_search.py", "super().seed_of(seed) + 1_000_000 * self.subset", "super().seed_of(seed)"),
    NamedFault("distort/photometric/tables.py", "levels < numbers.floor()", "levels < numbers.trunc()"),
    NamedFault("distort/photometric/tables.py", "levels + numbers.trunc()", "levels + numbers.floor()"),
    NamedFault("audits/shift.py", "compare(clean.score, scores, clean.groups)", "compare(clean.score, scores)"),
    NamedFault("audits/shift.py", "accuracy(scores, clean.groups)", "accuracy(scores)"),
    NamedFault("audits/shift.py", "accuracy(right, answers.groups(exam.clean()))", "accuracy(right)"),
    NamedFault(
        "audits/occluders/ranks.py", "(judged.correct, judged.judge, judged.group)", "(judged.correct, judged.judge)"
    ),
    NamedFault("audits/occluders/ranks.py", "judged.judge, REAL, judged.group)", "judged.judge, REAL)"),
)


def named(root: Path) -> list[Mutant]:
    """The named faults as mutants; one whose text is gone, or is there twice, is a mistake in the list above."""
    return [_mutant(root, fault) for fault in NAMED]


def _mutant(root: Path, fault: NamedFault) -> Mutant:
    file = f"src/snellen/{fault.file}"
    lines = (root / file).read_text(encoding="utf-8").split("\n")
    found = [number for number, line in enumerate(lines) if fault.before in line]
    if len(found) != 1:
        raise ValueError(
            f"expected '{fault.before}' once in {file}, found it {len(found)} times; mend mutation/named.py"
        )
    (number,) = found
    start = lines[number].index(fault.before)
    end = start + len(fault.before)
    return Mutant(file, number + 1, start, end, fault.after, "named", statement_of(lines, number), "named")


def statement_of(lines: list[str], number: int) -> int:
    """The line (from 1) on which the statement of a line begins: the innermost one that the line is in."""
    import ast

    inside = [
        node
        for node in ast.walk(ast.parse("\n".join(lines)))
        if isinstance(node, ast.stmt) and node.lineno <= number + 1 <= (node.end_lineno or 0)
    ]
    return max(node.lineno for node in inside)
