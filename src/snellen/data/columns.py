"""Columns of a listing in types that a table can store: converted where nothing is lost, refused where something would be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from snellen.data.names import storable
from snellen.errors import UserError

TEXT = ("group", "video", "texture")  # columns that are words, whatever they are written as
_LAST_CHARACTER = 0x10FFFF
_TIMES = {"D": "D", "W": "D", "M": "D", "Y": "D", "h": "s", "m": "s", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}
_SPANS = {"W": "s", "D": "s", "h": "s", "m": "s", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}
_YEARS = ("0001-01-01", "9999-12-31")
_SPAN = (-100_000, 100_000)  # days


def column(values: np.ndarray, where: str) -> np.ndarray:
    """A column [N] of text, truth values, whole numbers, floats or times; `where` names it in errors."""
    kind = values.dtype.kind
    if kind in "US":
        return np.array(texts(values, where), dtype=str)
    if kind == "O":
        return np.array([storable(value) if isinstance(value, str) else value for value in values], object)
    if kind in "biu" or (kind == "f" and values.dtype.itemsize <= 8):
        return np.array(values, values.dtype.newbyteorder("="))  # a mapped file may be cut while its values are used
    if kind == "f":
        return _shorter(values, where)
    if kind in "Mm":
        return _times(values, where)
    raise UserError(f"{where} is {values.dtype}; expected text, truth values, whole numbers, floats or times")


def texts(values: np.ndarray, where: str) -> list[str]:
    """Text, bytes (as UTF-8) or whole numbers [N] as storable text."""
    if values.dtype.kind == "S":
        return [storable(value.decode("utf-8", "surrogateescape")) for value in values.tolist()]
    if values.dtype.kind == "U" and values.size:
        native = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
        if native.view(np.uint32).max(initial=0) > _LAST_CHARACTER:
            raise UserError(f"{where} holds characters that do not exist; the file is damaged, save it again")
        return [storable(value) for value in native.tolist()]
    return [storable(str(value)) for value in values]


def record_columns(records: Sequence[Mapping[str, Any]], own: Collection[str]) -> dict[str, np.ndarray]:
    """Fields that all records have, but for their `own` ones, as words or numbers."""
    columns: dict[str, np.ndarray] = {}
    for name in records[0]:
        values = [record.get(name) for record in records]
        if name in own or not all(isinstance(value, str | int | float) for value in values):
            continue
        if name in TEXT or any(isinstance(value, str) for value in values):
            columns[name] = np.array(list(map(str, values)), object)
        else:
            numbers = np.array(values)
            columns[name] = numbers if numbers.dtype != object else np.array(list(map(str, values)), object)
    return columns


def _shorter(values: np.ndarray, where: str) -> np.ndarray:
    """Floats of more than 64 bits, where 64 hold them."""
    with np.errstate(over="ignore", invalid="ignore"):
        short = values.astype(np.float64)
    if not np.array_equal(short.astype(values.dtype), values, equal_nan=True):
        raise UserError(f"{where} is {values.dtype} and loses digits as float64; round it, or save it as text")
    return short


def _times(values: np.ndarray, where: str) -> np.ndarray:
    """Points or spans of time in a unit that tables have, within the years that calendars have."""
    points = values.dtype.kind == "M"
    unit, step = np.datetime_data(values.dtype)
    units = _TIMES if points else _SPANS
    if unit not in units or step != 1:
        raise UserError(f"{where} is {values.dtype}; expected times in one of the units {', '.join(units)}")
    native = np.asarray(values, values.dtype.newbyteorder("="))
    if unit != "ns":  # in nanoseconds no number reaches beyond
        low, high = np.array(_YEARS if points else _SPAN, f"{values.dtype.kind}8[D]").astype(native.dtype)
        outside = np.flatnonzero(~np.isnat(native) & ((native < low) | (native > high)))
        if len(outside):
            row = int(outside[0])
            limits = "years 1 to 9999" if points else f"{_SPAN[1]:,} days"
            raise UserError(f"{where}: the time of row {row} is outside {limits}")
    return native.astype(f"{values.dtype.kind}8[{units[unit]}]")
