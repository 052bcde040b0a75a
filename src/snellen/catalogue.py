"""What there is: models, data, distortions, audits, attribution methods and search spaces, each with a line about it."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

from snellen.errors import unknown
from snellen.notation import format_value
from snellen.plugins import SNELLEN, PluginTable

CATALOGUES = {
    "models": "how to name a model: snellen audit MODEL …",
    "data": "how to name a dataset: snellen audit … --data DATA",
    "distortions": "what can be done to images: --audits 'interference([shuffle(4)])'",
    "audits": "what can be asked: --audits occlusion,background",
    "methods": "attribution methods: snellen explain … --method NAME",
    "spaces": "sets of edits to search for the worst: snellen search … --set NAME",
}
"""What there are lists of, each with where it is used."""


class Listed(NamedTuple):
    """One line of a list: how to write a thing, what it is, and where it comes from: snellen, a package or a file."""

    text: str
    meaning: str
    origin: str = SNELLEN


def listing(kind: str) -> list[Listed]:
    """Every model kind, data scheme, distortion, audit, attribution method or space: snellen's own, then those of plug-ins."""
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
    return sorted(kinds[kind](), key=lambda line: (line.origin != SNELLEN, line.origin))


def catalogue(kind: str) -> list[tuple[str, str]]:
    """(how to write it, what it is) of all that is snellen's own."""
    return [(line.text, line.meaning) for line in listing(kind) if line.origin == SNELLEN]


def _models() -> list[Listed]:
    from snellen.models.plugged import PLUGGED

    PLUGGED.fill()
    kinds = [Listed(*line, PLUGGED.origin(name)) for name, kind in PLUGGED.table.items() for line in kind.lines]
    return [*kinds, Listed("NAME=MODEL", "any of these under a name of your choice")]


def _data() -> list[Listed]:
    from snellen.data import PLUGGED

    PLUGGED.fill()
    return [
        Listed(*line, PLUGGED.origin(name))
        for name, kind in PLUGGED.table.items()
        for line in ((kind.example, kind.meaning), *kind.also)
    ]


def _distortions() -> list[Listed]:
    from snellen.distort.language import PLUGGED

    return _classes(PLUGGED)


def _audits() -> list[Listed]:
    from snellen.audits import PLUGGED

    return _classes(PLUGGED)


def _classes(table: PluginTable[type[Any]]) -> list[Listed]:
    table.fill()
    return [Listed(_signature(name, cls), _first_line(cls), table.origin(name)) for name, cls in table.table.items()]


def _methods() -> list[Listed]:
    from snellen.explain.methods import CAPTUM, METHODS

    return [*(Listed(name, method.text) for name, method in METHODS.items()), Listed(*CAPTUM)]


def _spaces() -> list[Listed]:
    from snellen.search.spaces import SPACES

    own = Listed("FILE.yaml", "your own, such as 'brightness: [0.8, 0.9, 1.1]' on each line (docs/reference/search.md)")
    return [*(Listed(name, space.outline()) for name, space in SPACES.items()), own]


def _signature(name: str, cls: type) -> str:
    """`name(field=default, …)`; a field that must be given stands alone."""
    fields = [
        field.name if field.default is dataclasses.MISSING else f"{field.name}={format_value(field.default)}"
        for field in dataclasses.fields(cls)
    ]
    return f"{name}({', '.join(fields)})"


def _first_line(thing: Any) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]
