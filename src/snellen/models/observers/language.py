"""The table of observers and their text form."""

from __future__ import annotations

from typing import Any

from snellen import notation
from snellen.models.observers.album import Memory, Oracle
from snellen.models.observers.black import Black
from snellen.models.observers.chance import Guess, Mixture
from snellen.models.observers.evidence import Observer
from snellen.models.observers.marks import Background, Border, Centre, Glance, Patches, Texture
from snellen.models.observers.misreport import Misreport
from snellen.models.observers.silhouette import Shape
from snellen.models.observers.straight_edges import Edges

OBSERVERS: dict[str, type] = {
    "background": Background,
    "border": Border,
    "texture": Texture,
    "glance": Glance,
    "shape": Shape,
    "centre": Centre,
    "edges": Edges,
    "black": Black,
    "patches": Patches,
    "memory": Memory,
    "oracle": Oracle,
    "guess": Guess,
    "mixture": Mixture,
    "misreport": Misreport,
}


def parse(source: str) -> Observer:
    """The observer that a text such as `background` or `mixture(oracle, guess, 0.3)` names."""
    return _build(notation.read(source))


def _build(node: Any) -> Any:
    return notation.build(node, OBSERVERS, "observer", _argument)


def _argument(node: Any) -> Any:
    """Arguments of observers: observers where they are calls or name one, plain values else."""
    return _build(node) if isinstance(node, notation.Call) or node in OBSERVERS else node
