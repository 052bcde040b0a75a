"""The table of observers and their text form."""

from __future__ import annotations

from typing import Any

from snellen import notation
from snellen.models.observers.album import MemoryObserver, OracleObserver
from snellen.models.observers.black_square import BlackObserver
from snellen.models.observers.chance import GuessObserver, MixtureObserver
from snellen.models.observers.evidence import Observer
from snellen.models.observers.marks import (
    BackgroundObserver,
    BorderObserver,
    CentreObserver,
    GlanceObserver,
    PatchesObserver,
    TextureObserver,
)
from snellen.models.observers.misreported_map import MisreportObserver
from snellen.models.observers.silhouette import ShapeObserver
from snellen.models.observers.straight_edges import EdgesObserver

OBSERVERS: dict[str, type] = {
    "background": BackgroundObserver,
    "border": BorderObserver,
    "texture": TextureObserver,
    "glance": GlanceObserver,
    "shape": ShapeObserver,
    "centre": CentreObserver,
    "edges": EdgesObserver,
    "black": BlackObserver,
    "patches": PatchesObserver,
    "memory": MemoryObserver,
    "oracle": OracleObserver,
    "guess": GuessObserver,
    "mixture": MixtureObserver,
    "misreport": MisreportObserver,
}


def parse(source: str) -> Observer:
    """The observer that a text such as `background` or `mixture(oracle, guess, 0.3)` names.

    >>> from snellen.models.observers import parse
    >>> parse("black(otherwise=texture)")
    BlackObserver(otherwise=TextureObserver(), side=0.25)
    """
    return _build(notation.read(source))


def _build(node: Any) -> Any:
    return notation.build(node, OBSERVERS, "observer", _argument)


def _argument(node: Any) -> Any:
    """Arguments of observers: observers where they are calls or name one, plain values else."""
    return _build(node) if isinstance(node, notation.Call) or node in OBSERVERS else node
