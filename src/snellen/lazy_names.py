"""Public names of a package: found on first use where importing them costs time, and listed without what the package imports.

    _HOMES = {"Recipe": "snellen.train.recipe", "mixing": "snellen.train.mixing"}

    __all__ = [*_HOMES]
    __getattr__ = finder(__name__, _HOMES)
    __dir__ = lister(__all__)

A package that imports its names above has `__dir__` alone, so that type checkers see names that are not there; one that has
names of both sorts lists all of them in a literal `__all__`.
"""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = (
    False  # that of `typing`, which is not imported: Ctrl-C in the first moments of a command is handled behind this
)
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def finder(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a package: name → module that has it; a module of the package's own stands for itself."""

    def find(name: str) -> Any:
        if name not in homes:
            message = f"module '{package}' has no attribute '{name}'"
            # With name and package Python suggests the nearest name.
            raise AttributeError(message, name=name, obj=sys.modules[package])
        module = importlib.import_module(homes[name])
        return module if homes[name] == f"{package}.{name}" else getattr(module, name)

    return find


def lister(names: Sequence[str]) -> Callable[[], list[str]]:
    """A `__dir__` that lists these names alone: what users see when they press tab."""
    return lambda: list(names)
