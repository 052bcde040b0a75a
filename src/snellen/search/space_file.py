"""A user's own space, in YAML: each line an operation and its levels.

brightness: [0.8, 0.9, 1.1]
rotate: {from: -15, to: 15, count: 11}
"occlude({}, black)": [0.1, 0.2]
grayscale:
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import msgspec

from snellen.distort import Chain, parse
from snellen.errors import UserError
from snellen.files import KIB, expand_home, fit
from snellen.files.yaml_file import read_yaml
from snellen.notation import format_value
from snellen.search.spaces import Space, Transformation

MOST_OPERATIONS, MOST_LEVELS, MOST_BYTES = 200, 1000, 256 * KIB
LONGEST_TEXT = 300  # characters of an operation, and of a level

Level = float | int | bool | Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_TEXT)]


class Range(msgspec.Struct, forbid_unknown_fields=True, rename={"low": "from", "high": "to"}):
    """`count` levels from one number to another, both included."""

    low: float
    high: float
    count: Annotated[int, msgspec.Meta(ge=2, le=MOST_LEVELS)]

    def levels(self) -> list[float]:
        step = (self.high - self.low) / (self.count - 1)
        # Rounded where the machine's numbers are not the decimal ones: 0.1 + 2 · 0.1 is no level that anyone wrote.
        return [float(f"{self.low + number * step:.12g}") for number in range(self.count)]


Levels = Annotated[list[Level], msgspec.Meta(min_length=1, max_length=MOST_LEVELS)] | Range | None


def read_space(path: Path) -> Space:
    """The space of a YAML file; every level must be a distortion. Its name is the file's."""
    content = read_yaml(expand_home(path), "space", MOST_BYTES)
    if not isinstance(content, dict) or not content:
        got = "nothing" if content is None or content == {} else type(content).__name__
        raise UserError(f"{path}: expected lines such as 'brightness: [0.8, 0.9]', got {got}")
    if len(content) > MOST_OPERATIONS:
        raise UserError(f"{path}: expected at most {MOST_OPERATIONS} operations, got {len(content):,}")
    transformations = tuple(_transformation(path, key, levels) for key, levels in content.items())
    _refuse_twice(path, transformations)
    return Space(path.stem, transformations)


def _transformation(path: Path, key: Any, value: Any) -> Transformation:
    if not isinstance(key, str) or not 1 <= len(key) <= LONGEST_TEXT:
        raise UserError(f"{path}: expected the name of an operation before the colon, got {str(key)[:60]!r}")
    place = f"{path}: {key}"
    levels: list[Level] | Range | None = fit(value, Levels, place)
    if isinstance(levels, Range):
        if not (math.isfinite(levels.low) and math.isfinite(levels.high) and levels.low != levels.high):
            raise UserError(f"{place}: expected 'from' and 'to' as two different numbers")
        levels = list(levels.levels())
    if levels is None:
        texts = [key if "(" in key else f"{key}()"]
    else:
        template = key if "{}" in key else f"{key}({{}})"
        if "{}" not in key and "(" in key:
            raise UserError(f"{place}: expected {{}} where the level goes, such as 'occlude({{}}, black)'")
        texts = [template.replace("{}", format_value(level)) for level in levels]
    for text in texts:
        _check(place, text)
    return Transformation(key, tuple(texts))


def _check(place: str, text: str) -> None:
    """Raise unless the text is one distortion."""
    try:
        distortion = parse(text)
    except UserError as error:
        raise UserError(f"{place}: {error}") from None
    if isinstance(distortion, Chain):
        raise UserError(f"{place}: expected one distortion per level, got a chain '{text}'; a search makes the chains")


def _refuse_twice(path: Path, transformations: tuple[Transformation, ...]) -> None:
    """Raise where two levels are the same distortion: a search would ask about it twice."""
    places: dict[str, str] = {}
    for transformation in transformations:
        for text in transformation.levels:
            canonical = str(parse(text))
            if canonical in places:
                raise UserError(
                    f"{path}: {transformation.name}: '{text}' is there twice, also in {places[canonical]}; leave one out"
                )
            places[canonical] = transformation.name
