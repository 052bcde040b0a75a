"""Settings behind the `#` of a model text, `#timeout=10&batch=32`: split off, and each read by its own function."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from snellen.errors import UserError, unknown
from snellen.files.remote.remote_path import address_scheme
from snellen.models.card import LARGEST

Readers = Mapping[str, Callable[[str], Any]]  # by name; a ValueError says what was expected


def split_settings(place: str) -> tuple[str, str]:
    """A place and what stands behind its `#`; a `#` in the name of a file of this machine belongs to the name."""
    if "#" not in place or (not address_scheme(place) and os.path.exists(os.path.expanduser(place))):
        return place, ""
    path, _, query = place.partition("#")
    return path, query


def read_settings(query: str, options: Readers, text: str) -> dict[str, Any]:
    """What stands behind the `#` of a model text, `timeout=10&batch=32`, each read by its option."""
    settings: dict[str, Any] = {}
    for name, value in parse_qsl(query.replace("+", "%2B"), keep_blank_values=True):
        if name not in options:
            raise unknown(f"setting of '{text}'", name, options)
        if name in settings:
            raise UserError(f"'{text}' sets {name} twice; leave one of them out")
        try:
            settings[name] = options[name](value)
        except ValueError as error:
            raise UserError(f"'{text}': expected {name} {error}, got '{value}'") from None
    return settings


def number_setting(least: float, most: float) -> Callable[[str], float]:
    """What reads a number within bounds."""

    def read(value: str) -> float:
        number = _number(value)
        if not least <= number <= most:
            raise ValueError(f"from {least:g} to {most:g}")
        return number

    return read


def whole_setting(least: int, most: int) -> Callable[[str], int]:
    """What reads a whole number within bounds."""

    def read(value: str) -> int:
        number = int(value) if re.fullmatch(r"[0-9]{1,9}", value) else -1
        if not least <= number <= most:
            raise ValueError(f"as a whole number from {least:,} to {most:,}")
        return number

    return read


def choice_setting(*choices: str) -> Callable[[str], str]:
    """What reads one of some words."""

    def read(value: str) -> str:
        if value not in choices:
            raise ValueError(f"as one of {', '.join(choices)}")
        return value

    return read


def size_setting(value: str) -> tuple[int, int]:
    """Height and width in pixels, of `224` or `180x240`."""
    match = re.fullmatch(r"([0-9]{1,5})(?:x([0-9]{1,5}))?", value)
    height, width = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not (1 <= height <= LARGEST and 1 <= width <= LARGEST):
        raise ValueError(f"in pixels, as 224 or HEIGHTxWIDTH, up to {LARGEST:,}")
    return height, width


def channels_setting(least: float, most: float) -> Callable[[str], tuple[float, float, float]]:
    """What reads a number for each channel, `0.485,0.456,0.406`, or one for all three, within bounds."""

    def read(value: str) -> tuple[float, float, float]:
        numbers = [_number(part) for part in value.split(",")]
        numbers = numbers * 3 if len(numbers) == 1 else numbers
        if len(numbers) != 3 or not all(least <= number <= most for number in numbers):
            raise ValueError(f"as one number or three with commas between, each from {least:g} to {most:g}")
        return numbers[0], numbers[1], numbers[2]

    return read


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return math.nan
