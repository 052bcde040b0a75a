"""What a fitness and a constraint are made of: models, data, settings and code, so that a search of others is not continued."""

from __future__ import annotations

import dataclasses
import functools
import io
import logging
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from snellen.hashing import checksum, key_of
from snellen.lazy_torch import torch
from snellen.search.own_code import changed_names, is_own, source_of

DEEPEST = 6  # objects within objects that are looked at
_PLAIN = (str, bool, int, float, complex, bytes, Path, type(None))
_OF_THE_PROCESS = (ModuleType, BuiltinFunctionType, io.IOBase, logging.Filterer)  # no part of what an object is


def identity_of(thing: Any) -> str:
    """A key of what an object answers by.

    What has a `fingerprint` is known by it, models and datasets among them. Tensors, arrays and weights are known by their
    values, functions and classes by their code and by what it refers to, those of installed packages by their names, all else
    by what it holds. What a function, or a method other than `__init__`, changes itself is a count of what happened and is
    left out: give what depends on it a `fingerprint`.
    """
    return key_of(_facts(thing, DEEPEST, {}))


def _facts(thing: Any, depth: int, seen: dict[int, Any]) -> Any:
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, _PLAIN):
        return thing if isinstance(thing, str | bool | int | None) else repr(thing)
    if isinstance(own := _fingerprint(thing), str):
        return ["fingerprint", own]
    if isinstance(thing, torch.Tensor):
        thing = thing.detach().cpu().contiguous()
        return ["tensor", str(thing.dtype), list(thing.shape), checksum(thing.flatten().view(torch.uint8).numpy().data)]
    if isinstance(thing, np.ndarray):
        return ["array", str(thing.dtype), list(thing.shape), checksum(np.ascontiguousarray(thing).tobytes())]
    if depth == 0 or id(thing) in seen or isinstance(thing, _OF_THE_PROCESS):
        return _kind(thing)
    seen[id(thing)] = thing  # kept, so that no other object gets its place in memory
    if isinstance(thing, set | frozenset):
        return [_kind(thing), *sorted(key_of(_facts(part, depth - 1, seen)) for part in thing)]
    return [
        _kind(thing),
        *([name, _facts(part, depth - 1, seen)] for name, part in sorted(_parts(thing), key=itemgetter(0))),
    ]


def _fingerprint(thing: Any) -> str | None:
    """That of the object or, for a model, of its card."""
    own = getattr(thing, "fingerprint", None)
    return own if isinstance(own, str) else getattr(getattr(thing, "card", None), "fingerprint", None)


def _kind(thing: Any) -> str:
    """The name of an object's type; of a function its own, without its module, which is another where a script is imported."""
    if isinstance(thing, FunctionType):
        return thing.__qualname__
    named = thing if isinstance(thing, type) else type(thing)
    return named.__qualname__ if is_own(named) else f"{named.__module__}.{named.__qualname__}"


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    """What an object is made of, by name."""
    if isinstance(thing, torch.nn.Module):
        yield "layers", repr(thing)
        yield from thing.state_dict().items()
    elif isinstance(thing, FunctionType):
        yield from _values_in_function(thing)
        if is_own(thing):
            yield from _code_of_function(thing)
    elif isinstance(thing, type):
        if is_own(thing):
            yield "code", source_of(thing)
            yield from (
                (f"method {name}", part) for name, part in vars(thing).items() if isinstance(part, FunctionType)
            )
    elif isinstance(thing, MethodType):
        yield from (("function", thing.__func__), ("self", thing.__self__))
    elif isinstance(thing, functools.partial):
        yield from (("function", thing.func), ("values", thing.args), *thing.keywords.items())
    elif isinstance(thing, tuple | list):
        yield from ((f"{number:09d}", part) for number, part in enumerate(thing))
    elif isinstance(thing, dict):
        yield from ((f"{name!r:>9}", part) for name, part in thing.items())
    else:
        yield from _parts_of_object(thing)


def _parts_of_object(thing: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object that none of its methods changes, and its classes."""
    kinds = [kind for kind in type(thing).__mro__ if kind is not object]
    yield from ((f"class {number}", kind) for number, kind in enumerate(kinds) if is_own(kind))
    if dataclasses.is_dataclass(thing):
        yield from ((field.name, getattr(thing, field.name)) for field in dataclasses.fields(thing) if field.compare)
        return
    counts = {name for kind in kinds for name in changed_names(kind)}
    attributes = getattr(thing, "__dict__", {})
    yield from ((name, part) for name, part in attributes.items() if name not in counts)
    if not attributes and " at 0x" not in (text := repr(thing)):  # a date, a fraction, a pattern
        yield "text", text


def _values_in_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    yield "defaults", (function.__defaults__, tuple(sorted((function.__kwdefaults__ or {}).items())))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            part = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        if name not in changed_names(function):
            yield f"closure {name}", part


def _code_of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    yield "code", source_of(function)
    names = _names(function.__code__)
    for name in sorted(names - changed_names(function)):
        part = function.__globals__.get(name)
        if isinstance(part, ModuleType):
            reached = (getattr(part, inner) for inner in sorted(names) if is_own(part) and hasattr(part, inner))
            yield f"global {name}", tuple(reached)
        elif part is not None:
            yield f"global {name}", part


def _names(code: CodeType) -> set[str]:
    """The names that code and the functions inside it refer to."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return {*code.co_names}.union(*(_names(other) for other in inner))
