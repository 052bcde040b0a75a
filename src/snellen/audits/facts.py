"""What findings tell beyond their value: a declared type per finding, written into findings.json and read back from it.

>>> class Gap(FindingFacts, frozen=True, kw_only=True):
...     same: Number
...     other: Number | UnsetType = UNSET
>>> facts_to_json(Gap(same=0.5))
{'same': 0.5}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

__all__ = [
    "NO_FACTS",
    "UNSET",
    "FindingFacts",
    "Number",
    "OpenFacts",
    "UnsetType",
    "facts_to_json",
    "gather_open",
    "without_nan",
]

Number: TypeAlias = float | None
"""A number that may not be known: nan where an audit computes it, null in files and None when it is read back."""


class FindingFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a finding; an audit declares a type of its own per finding, or one for several that tell the same.

    A fact that only some findings have, or that older runs lack, is `X | UnsetType = UNSET`: it is left out of files. In files
    the fields of a type follow those of the one it derives from, or come before them where that one is `beside` it.

    `settings` is set where a run has two audits of one kind that found different things under one label: the parameters of the
    audit that concluded it in which they differ.
    """

    beside: ClassVar[bool] = False

    settings: str | UnsetType = UNSET


NO_FACTS = FindingFacts()


class OpenFacts(FindingFacts, frozen=True, kw_only=True):
    """Facts by name without a declared type: those of audits that snellen does not know, or beside declared ones."""

    values: dict[str, Any]


def facts_to_json(facts: FindingFacts) -> dict[str, Any]:
    """Plain values by name, as findings.json holds them: in the order of declaration, those that stand beside others last."""
    open_facts = dict(facts.values) if isinstance(facts, OpenFacts) else {}
    parents = [kind for kind in type(facts).__mro__[1:] if issubclass(kind, FindingFacts) and kind.beside]
    shared = {name for kind in parents for name in kind.__struct_fields__}
    written = dict(
        zip(type(facts).__struct_fields__, type(facts).__struct_encode_fields__)
    )  # `class` is no field's name
    names = sorted(written, key=lambda name: name in shared)
    if isinstance(facts, OpenFacts):
        names.remove("values")
    values = ((written[name], getattr(facts, name)) for name in names)
    return open_facts | {name: _plain(value) for name, value in values if value is not UNSET}


def gather_open(kind: type[FindingFacts], values: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as a file holds them, with those that the type does not declare gathered where it is open."""
    if not issubclass(kind, OpenFacts):
        return dict(values)
    declared = {name: values[name] for name in kind.__struct_encode_fields__ if name in values}
    return {**declared, "values": {name: value for name, value in values.items() if name not in declared}}


def without_nan(value: Any) -> Any:
    """The same plain values with null for nan."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_of_numpy)


def _of_numpy(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise NotImplementedError(f"a fact of type {type(value).__name__}")
