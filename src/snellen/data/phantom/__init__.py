"""`phantom:train?background_bias=0.8&size=32&n=2000`: a generated world whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snellen.data.dataset import Dataset
from snellen.data.phantom.paint import Rendered
from snellen.data.phantom.world import DIALS, World
from snellen.errors import UserError, unknown


def phantom(path: str, options: Mapping[str, str]) -> Dataset:
    """The split `train` (4000 images) or `test` (1000) of the world that the options dial.

    The dials are n, size, background_bias, texture_bias and seed; see World.
    """
    dials: dict[str, Any] = {"n": 4000 if path == "train" else 1000}
    for name, value in options.items():
        if name not in DIALS:
            raise unknown("phantom dial", name, DIALS)
        dials[name] = _number(name, value)
    return World(path, **dials).dataset()


def _number(name: str, value: str) -> float:
    kind = DIALS[name].kind
    try:
        return kind(value)
    except ValueError:
        wanted = "whole number" if kind is int else "number"
        raise UserError(f"expected {name} as a {wanted}, got '{value}'") from None


__all__ = ["Rendered", "World", "phantom"]
