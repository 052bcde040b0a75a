"""Code that is a user's own: where it comes from, its text, and the names of what it changes while it runs."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

Code = FunctionType | type | ModuleType

_OTHERS = {"snellen", "builtins"} | sys.stdlib_module_names
_INSTALLED = {"site-packages", "dist-packages"}
_BEGINNING = ("__init__", "__new__", "__post_init__")  # what they set is what an object begins with
_CHANGING = frozenset(
    ("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update")
)


def is_own(code: Code) -> bool:
    """Whether code is a user's: neither of an installed package, nor of Python itself, nor ours."""
    name = code.__name__ if isinstance(code, ModuleType) else code.__module__
    if name is None or name.split(".")[0] in _OTHERS:
        return False
    if name == "__main__":
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    return not (isinstance(file, str) and _INSTALLED.intersection(Path(file).parts))


def source_of(code: FunctionType | type) -> str:
    """The text of a function or a class; where there is no file the compiled code of a function, the name of a class."""
    try:
        return inspect.getsource(code)
    except (OSError, TypeError):
        return repr(code.__code__.co_code) if isinstance(code, FunctionType) else code.__qualname__


@functools.lru_cache(512)
def changed_names(code: FunctionType | type) -> frozenset[str]:
    """The names of attributes and of variables outside that a function or the methods of a class set, or add entries to.

    Not those that `__init__` alone sets; none where the code has no text.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError):
        return frozenset()
    return frozenset(name for node in _running(tree) for name in _changed_by(node))


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """All parts of code but those of functions that only set what an object begins with."""
    for part in ast.iter_child_nodes(node):
        if not (isinstance(part, ast.FunctionDef) and part.name in _BEGINNING):
            yield part
            yield from _running(part)


def _changed_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign | ast.Delete):
        yield from (name for target in node.targets for name in _outside(target))
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        yield from _outside(node.target)
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        yield from _holder(node.func.value)


def _outside(target: ast.expr) -> Iterator[str]:
    """The names that an assignment to a target changes; a bare name is a variable inside."""
    if isinstance(target, ast.Tuple | ast.List):
        yield from (name for part in target.elts for name in _outside(part))
    elif isinstance(target, ast.Attribute):
        yield target.attr
    elif isinstance(target, ast.Subscript):
        yield from _holder(target.value)


def _holder(value: ast.expr) -> Iterator[str]:
    """The name of the attribute or variable whose entries change."""
    if isinstance(value, ast.Name):
        yield value.id
    elif isinstance(value, ast.Attribute):
        yield value.attr
    elif isinstance(value, ast.Subscript):
        yield from _holder(value.value)
