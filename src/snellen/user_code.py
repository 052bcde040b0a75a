"""Code of the user's (a module, a factory, a model) found and run so that neither its failures nor its habits end the command."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from snellen.errors import Hung, UserError
from snellen.files import open_file
from snellen.files.net import reason_of
from snellen.files.plain import place_here

PASSING = (KeyboardInterrupt, GeneratorExit, Hung)  # what ends the body without its being at fault
LISTED = 8  # names of a module that a message lists


@contextmanager
def user_code(what: str) -> Iterator[None]:
    """What is raised inside is the failure of `what` ("the factory 'nets.py:load' failed"), in one line, and so is
    `sys.exit`, whatever its code; the working folder is the same afterwards."""
    before = None
    with suppress(OSError):  # a folder that was removed is none to come back to
        before = os.getcwd()
    try:
        yield
    except (UserError, *PASSING):
        raise
    except BaseException as error:
        raise failure_of(what, error) from error
    finally:
        if before is not None:
            with suppress(OSError):
                os.chdir(before)


def failure_of(what: str, error: BaseException) -> UserError:
    """The error for code of the user's that failed, or called `sys.exit`, which would end the command as if it had done its
    work."""
    if isinstance(error, SystemExit):
        return UserError(f"{what} called sys.exit({error.code!r}); take that out")
    reason, name = reason_of(error), type(error).__name__
    return UserError(f"{what} failed: {name if reason == name else f'{name}: {reason}'}")


def user_object(name: str) -> Any:
    """What `file.py:name` or `package.module:name` names."""
    place, colon, attribute = name.rpartition(":")
    if not colon or not place:
        raise UserError(f"expected 'python:package.module:name' or 'python:file.py:name', got 'python:{name}'")
    module = user_module(place)
    if not hasattr(module, attribute):
        offered = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        raise UserError(f"'{place}' has no '{attribute}'; it has: {', '.join(offered[:LISTED]) or 'no callables'}")
    return getattr(module, attribute)


def user_module(place: str) -> Any:
    """A module by its dotted name (the working folder counts) or by the path of its file."""
    if place.endswith(".py"):
        path = place_here(place, "code")
        open_file(path).close()  # Python itself would wait for a pipe
        return import_file(path, f"snellen_user_{path.stem}", place)
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    with user_code(f"importing '{place}'"), _finding(place):
        return importlib.import_module(place)


def import_file(path: Path, name: str, place: str) -> ModuleType:
    """The module of a file, under this name; `place` is how the user wrote its path."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with user_code(f"importing '{place}'"), _finding(place):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _finding(place: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise UserError(
            f"cannot import '{place}': {error}; run from the folder that holds it, or give the path of its file"
        ) from None
