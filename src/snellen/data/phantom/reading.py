"""Worlds from their texts."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from snellen.data.phantom.dials import read_dials
from snellen.data.phantom.world import World
from snellen.errors import UserError

IMAGES = {"train": 4000, "test": 1000}  # where `n` does not say how many


def build_world(split: str, options: Mapping[str, str]) -> World:
    """The split `train` (4000 images) or `test` (1000) of the world that the options dial; see Dials and World."""
    return World(split, **{"n": IMAGES.get(split, 1), **read_dials(options)})


def read_world(text: str) -> World:
    """The world of a data text such as `phantom:test?texture_bias=0.5`."""
    scheme, _, rest = text.partition(":")
    if scheme != "phantom":
        raise UserError(f"expected a world as 'phantom:train?…' or 'phantom:test?…', got '{text}'")
    split, _, query = rest.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    if query and not options:
        raise UserError(f"cannot read '?{query}' in '{text}'; write it as ?dial=value&other=value")
    return build_world(split, options)
