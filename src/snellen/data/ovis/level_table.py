"""`levels.csv`: levels of occlusion beside annotations that state none, or other ones.

Columns: `level`, and any of `path` (the frame's file), `video`, `frame` (its number in the video, from 0) and `instance` (the
annotation's id). An empty cell fits all; of several rows that fit an instance in a frame the last counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from snellen.data.ovis.clips import Appearance, Clips
from snellen.data.ovis.frame_table import MOST_NUMBER
from snellen.data.ovis.levels import stated_level
from snellen.errors import UserError
from snellen.files.table import Column, place_of, read_table

WHOLE = Column("int", least=0, most=MOST_NUMBER)
SCHEMA = {
    "level": Column(required=True, filled=True),
    "path": Column(),
    "video": Column(),
    "frame": WHOLE,
    "instance": WHOLE,
}
PLACES = ("path", "video", "frame", "instance")
Key = tuple[Any, ...]


def with_levels(clips: Clips, file: Path) -> Clips:
    """The clips with the levels that a table states; each of its rows must fit an instance."""
    table = read_table(file, SCHEMA, "table of levels")
    names = [name for name in PLACES if name in table.columns]
    if not names:
        raise UserError(f"{file} has none of the columns {', '.join(PLACES)}, which say what a level is of")
    rules: dict[Key, tuple[int, int]] = {}  # key with None for any → row, level
    for row, cells in enumerate(table.to_dict("records")):
        level = stated_level(cells["level"])
        if level is None:
            known = "0, 1, 2, none, slight or severe"
            raise UserError(f"{place_of(file, row)}: '{cells['level'][:60]}' is no level; expected {known}")
        rules[tuple(_cell(cells[name]) for name in names)] = row, level
    masks = {tuple(value is None for value in key) for key in rules}  # which of the columns rows leave open
    used: set[int] = set()
    appearances = []
    for appearance in clips.appearances:
        full = tuple(_value(clips, appearance, name) for name in names)
        fitting = [
            rules[key]
            for free in masks
            if (key := tuple(None if is_free else value for is_free, value in zip(free, full))) in rules
        ]
        used |= {row for row, _ in fitting}
        appearances.append(_stating(appearance, max(fitting)[1]) if fitting else appearance)
    _check_used(rules, used, names, file)
    return replace(clips, appearances=appearances)


def _stating(appearance: Appearance, level: int) -> Appearance:
    """The instance with its level; one that was refused for its own level alone can be used now."""
    return (
        replace(appearance, level=level, reason="", detail="")
        if appearance.reason == "unknown level"
        else replace(appearance, level=level)
    )


def _value(clips: Clips, appearance: Appearance, name: str) -> object:
    frame = clips.frames[appearance.frame]
    return {"path": frame.file, "video": frame.video, "frame": frame.number, "instance": appearance.instance}[name]


def _cell(value: Any) -> object:
    """What a cell names; None where it is empty."""
    if isinstance(value, str):
        return value or None
    return None if value != value else int(value)


def _check_used(rules: dict[Key, tuple[int, int]], used: set[int], names: Sequence[str], file: Path) -> None:
    """Refuse a row that fits nothing: what it was meant for would silently keep another level."""
    for key, (row, _) in rules.items():
        if row not in used:
            words = ", ".join(f"{name} {value}" for name, value in zip(names, key) if value is not None) or "any"
            raise UserError(f"{place_of(file, row)}: no annotated instance has {words[:200]}")
