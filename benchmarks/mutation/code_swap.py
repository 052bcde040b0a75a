"""A fault put into functions that are in memory already: their code is exchanged, so that nothing is imported again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

from mutation.mutant import Mutant


def codes(module: CodeType) -> Iterator[CodeType]:
    """The code of every function below a module's, from the outside in."""
    for constant in module.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes(constant)


def pairs(mutant: Mutant, root: Path, tree: Path) -> list[tuple[CodeType, CodeType]]:
    """The code of each function that the fault changes, before and after."""
    file = str(tree / mutant.file)
    before = compile((root / mutant.file).read_text(encoding="utf-8"), file, "exec")
    after = compile(mutant.source(root), file, "exec")
    later = {(code.co_qualname, code.co_firstlineno): code for code in codes(after)}
    both = [(code, later.get((code.co_qualname, code.co_firstlineno))) for code in codes(before)]
    return [(old, new) for old, new in both if new is not None and old != new]


def can_swap(mutant: Mutant, root: Path, tree: Path) -> bool:
    """Whether the fault is in functions alone, and these keep the names that they take from around them."""
    if not mutant.scope:
        return False
    found = pairs(mutant, root, tree)
    return bool(found) and all(old.co_freevars == new.co_freevars for old, new in found)


_frozen: list[FunctionType] = []


def freeze_memory() -> None:
    """Takes what is in memory out of the collector's sight, which would otherwise copy all of it in every process."""
    gc.collect()
    _frozen.extend(_functions())
    gc.freeze()


def _functions() -> list[FunctionType]:
    return [thing for thing in gc.get_objects() if type(thing) is FunctionType]


def swap_code(mutant: Mutant, root: Path, tree: Path) -> None:
    """Exchanges the code of all functions in memory that have the fault; what is imported later has it by itself."""
    changed = dict(pairs(mutant, root, tree))
    for function in [*_frozen, *_functions()]:
        if function.__code__ in changed:
            function.__code__ = changed[function.__code__]
