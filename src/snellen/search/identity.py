"""What a fitness and a constraint are made of: models, data, settings and code, so that a search of others is not continued."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from snellen.hashing import checksum, key_of
from snellen.lazy_torch import torch

DEEPEST = 6  # objects within objects that are looked at
_PLAIN = (str, bool, int, float, bytes, Path, type(None))


def identity_of(thing: Any) -> str:
    """A key of what an object answers by.

    What has a `fingerprint` is known by it, models and datasets among them. Tensors, arrays and weights are known by their
    values, functions by their code and by what it refers to, dataclasses by their fields, other objects by the tensors, models,
    functions and texts that they hold. Numbers of such objects, and lists, may be counts of what happened and are left out:
    give what depends on them a `fingerprint`.
    """
    return key_of(_facts(thing, DEEPEST, set()))


def _facts(thing: Any, depth: int, seen: set[int]) -> Any:
    if isinstance(thing, _PLAIN):
        return thing if isinstance(thing, str | bool | int | None) else repr(thing)
    if isinstance(own := _fingerprint(thing), str):
        return ["fingerprint", own]
    if isinstance(thing, torch.Tensor):
        thing = thing.detach().cpu().contiguous()
        return ["tensor", str(thing.dtype), list(thing.shape), checksum(thing.flatten().view(torch.uint8).numpy().data)]
    if isinstance(thing, np.ndarray):
        return ["array", str(thing.dtype), list(thing.shape), checksum(np.ascontiguousarray(thing).tobytes())]
    if depth == 0 or id(thing) in seen:
        return _kind(thing)
    seen.add(id(thing))
    return [_kind(thing), *([name, _facts(part, depth - 1, seen)] for name, part in sorted(_parts(thing)))]


def _fingerprint(thing: Any) -> str | None:
    """That of the object or, for a model, of its card."""
    own = getattr(thing, "fingerprint", None)
    return own if isinstance(own, str) else getattr(getattr(thing, "card", None), "fingerprint", None)


def _kind(thing: Any) -> str:
    """The name of an object's type; of a function its own, without its module, which is another where a script is imported."""
    if isinstance(thing, FunctionType):
        return thing.__qualname__
    named = thing if isinstance(thing, type) else type(thing)
    return f"{named.__module__}.{named.__qualname__}"


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """What an object is made of, by name."""
    if isinstance(thing, torch.nn.Module):
        yield from thing.state_dict().items()
    elif isinstance(thing, FunctionType):
        yield from _parts_of_function(thing)
    elif isinstance(thing, MethodType):
        yield from (("function", thing.__func__), ("self", thing.__self__))
    elif isinstance(thing, functools.partial):
        yield from (("function", thing.func), ("values", thing.args), *thing.keywords.items())
    elif isinstance(thing, tuple | frozenset):
        yield from ((f"{number:09d}", part) for number, part in enumerate(thing))
    elif isinstance(thing, list | dict):
        pairs = thing.items() if isinstance(thing, dict) else enumerate(thing)
        yield from ((f"{name!r:>9}", part) for name, part in pairs if _is_lasting(part))
    elif dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        yield from ((field.name, getattr(thing, field.name)) for field in dataclasses.fields(thing) if field.compare)
    elif not isinstance(thing, type) and hasattr(thing, "__dict__"):
        yield from ((name, part) for name, part in vars(thing).items() if isinstance(part, str) or _is_lasting(part))
        if not isinstance(thing, Callable):  # type: ignore[arg-type]
            return
        yield "call", type(thing).__call__


def _parts_of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    try:
        yield "code", inspect.getsource(function)
    except (OSError, TypeError):
        yield "code", repr(function.__code__.co_code)
    yield "defaults", (function.__defaults__, tuple(sorted((function.__kwdefaults__ or {}).items())))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            yield f"closure {name}", cell.cell_contents
        except ValueError:  # not bound yet
            continue
    for name in sorted(_names(function.__code__)):
        part = function.__globals__.get(name)
        if isinstance(part, FunctionType) and part.__module__ != function.__module__:
            yield f"global {name}", _kind(part)  # of a library: by its name
        elif isinstance(part, str | float | int | tuple) or _is_lasting(part):
            yield f"global {name}", part


def _names(code: CodeType) -> set[str]:
    """The names that code and the functions inside it refer to."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {*code.co_names}.union(*(_names(other) for other in inner))


def _is_lasting(part: Any) -> bool:
    """Whether something makes an object what it is, rather than counting what it did."""
    if isinstance(part, torch.Tensor | np.ndarray | torch.nn.Module | FunctionType | MethodType | functools.partial):
        return True
    if isinstance(part, (*_PLAIN, type)) or inspect.ismodule(part) or inspect.isbuiltin(part):
        return False
    if isinstance(part, list | tuple | dict):
        return any(map(_is_lasting, part.values() if isinstance(part, dict) else part))
    return _fingerprint(part) is not None or hasattr(part, "__dict__")
