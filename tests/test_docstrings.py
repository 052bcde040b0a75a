"""Public names say what they are: at least 98% have a docstring of their own, or that of the method they stand for."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

from .test_package import rooms
from .test_public_names import LISTED


def described() -> Iterator[tuple[str, bool]]:
    """Every class and function that a room lists as public, and the public members of these classes: whether it is described."""
    for room in ("", *rooms(), *LISTED):
        module = importlib.import_module(f"snellen.{room}".rstrip("."))
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if inspect.isclass(thing):
                made_up = f"{thing.__name__}{inspect.signature(thing)}" if "__dataclass_fields__" in vars(thing) else ""
                yield f"{room}.{name}", (thing.__doc__ or made_up) != made_up
                for member, value in vars(thing).items() if thing.__module__.startswith("snellen") else ():
                    if not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)):
                        yield f"{room}.{name}.{member}", bool(inspect.getdoc(getattr(thing, member)))
            elif inspect.isfunction(thing):
                yield f"{room}.{name}", bool(thing.__doc__)


def test_nearly_all_public_names_have_a_docstring() -> None:
    found = dict(described())
    without = [name for name, has in found.items() if not has]
    assert len(found) > 900
    assert len(without) <= 0.02 * len(found), without


def test_every_public_function_and_class_has_one() -> None:
    assert [name for name, has in described() if not has and name.count(".") == 1] == []
