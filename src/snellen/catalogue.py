"""What there is: models, data, distortions, audits, attribution methods and search spaces, each with a line about it."""

from __future__ import annotations

import dataclasses
from typing import Any

from snellen.errors import unknown
from snellen.notation import format_value

CATALOGUES = {
    "models": "how to name a model: snellen audit MODEL …",
    "data": "how to name a dataset: snellen audit … --data DATA",
    "distortions": "what can be done to images: --audits 'interference([shuffle(4)])'",
    "audits": "what can be asked: --audits occlusion,background",
    "methods": "attribution methods: snellen explain … --method NAME",
    "spaces": "sets of edits to search for the worst: snellen search … --set NAME",
}
"""What there are lists of, each with where it is used."""


def catalogue(kind: str) -> list[tuple[str, str]]:
    """(how to write it, what it is) of every model kind, data scheme, distortion, audit, attribution method or space."""
    kinds = {
        "models": _models,
        "data": _data,
        "distortions": _distortions,
        "audits": _audits,
        "methods": _methods,
        "spaces": _spaces,
    }
    if kind not in kinds:
        raise unknown("list", kind, kinds)
    return kinds[kind]()


def _models() -> list[tuple[str, str]]:
    from snellen.models.kinds import KINDS

    lines = [line for kind in KINDS.values() for line in kind.lines]
    return [*lines, ("NAME=MODEL", "any of these under a name of your choice")]


def _data() -> list[tuple[str, str]]:
    from snellen.data import SCHEMES

    return [line for kind in SCHEMES.values() for line in ((kind.example, kind.meaning), *kind.also)]


def _distortions() -> list[tuple[str, str]]:
    from snellen.distort import DISTORTIONS

    return [(_signature(name, cls), _first_line(cls)) for name, cls in DISTORTIONS.items()]


def _audits() -> list[tuple[str, str]]:
    from snellen.audits import AUDITS

    return [(_signature(name, cls), _first_line(cls)) for name, cls in AUDITS.items()]


def _methods() -> list[tuple[str, str]]:
    from snellen.explain.methods import CAPTUM, METHODS

    return [*((name, method.text) for name, method in METHODS.items()), CAPTUM]


def _spaces() -> list[tuple[str, str]]:
    from snellen.search.spaces import SPACES

    own = ("FILE.yaml", "your own, such as 'brightness: [0.8, 0.9, 1.1]' on each line (docs/search.md)")
    return [*((name, space.outline()) for name, space in SPACES.items()), own]


def _signature(name: str, cls: type) -> str:
    """`name(field=default, …)`."""
    fields = [f"{f.name}={format_value(f.default)}" for f in dataclasses.fields(cls)]
    return f"{name}({', '.join(fields)})"


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]
